# What is measured is told with its limit; the figures are the machine's.
wte bench --quick --seconds 0 --memory 16 --threads 2 --only 'f32 fma' --only 'rows q8_0' --only 'bags sum int8'
wte bench --quick --seconds 0 --memory 16 --threads 1 --only 'n = 8' --only 'n = 1' --only 'loss' --only 'limit c' > out
grep -c . out
# what JSON it prints can be compared with
wte bench --quick --seconds 0 --memory 16 --threads 1 --only 'bags' --json > now.json
python3 -c 'import json; r = json.load(open("now.json"))["results"]; print([x["name"] for x in r], all(x["share"] > 0 for x in r))'
wte bench --compare now.json --results now.json | tail -1
