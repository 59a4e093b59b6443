# --ids: typed, or a file; a row that is not there is named with its place.
. "$DATA/../cli/lib.sh"
printf '5\n0\n' > ids.txt
run wte logits demo --hidden 1,0,0 --ids 5,0
run wte logits demo --hidden 1,0,0 --ids ids.txt --json
run wte logits demo --hidden 1,0,0 --ids 5,6
printf '5\n-7\n' > ids.txt
run wte logits demo --hidden 1,0,0 --ids ids.txt
run wte logits demo --hidden 1,0,0 --ids 99999999999999999999
# a draft head: its two rows are tokens 4 and 7
python3 "$DATA/../cli/logits/make_models.py"
printf '4\n7\n' > map
run wte logits draft --hidden 1,0,0
run wte logits draft --hidden 1,0,0 --map map
run wte logits draft --hidden 1,0,0 --map map --ids 1
wte logits draft --hidden 1,0,0 --map map --top 1 --json | tail -6
printf '4\n' > map
run wte logits draft --hidden 1,0,0 --map map
