# --json: a record a line, the last one tells the end.
for i in $(seq 2000); do echo "w$((i % 7)) w$((i % 11)) w$((i % 5)) w$((i % 13))"; done > text
wte train text -o out --dim 8 --threads 1 --json -q > log
python3 - <<'END'
import json

records = [json.loads(line) for line in open("log")]
assert all(r["schema"] == "wte.train/1" for r in records)
assert [r["event"] for r in records[:-1]] == ["progress"] * (len(records) - 1)
last = records[-1]
print(last["event"], last["why"], last["rows"], last["dim"], last["done"], last["total"])
print(records[-2]["done"] == last["done"], 0 < last["loss"] < 4.2, records[-2]["lr"] < 1e-4)
END
