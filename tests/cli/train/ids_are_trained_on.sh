# Ids of a tokenizer, as .npy and raw: rows are ids, all of them.
python3 - <<'END'
import array

ids = array.array("H", [(i * i) % 23 for i in range(4000)])
open("ids.u16", "wb").write(ids.tobytes())
END
wte train ids.u16 --ids-type u16 -o out --dim 8 --threads 1 -q
wte lookup out 18 --json | grep -c shape
tail -1 out/vocab.txt
