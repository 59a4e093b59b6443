# -o: all logits, or those of chosen rows, as one array; the same whatever the number of threads.
. "$DATA/../cli/lib.sh"
wte new --rows 3 --dim 3 --seed 9 -o h.npy > told
run wte logits demo --hidden h.npy -o l.npy
wte inspect l.npy | head -2
wte logits demo --hidden h.npy --threads 1 -o - | cmp - l.npy
run wte logits demo --hidden h.npy --ids 4,4,0 -o l.npy
wte lookup l.npy 0 1 2
# as the rows of a table do: logit(h, r) = h . row r
run wte logits demo --hidden 1,0,0 -o unit.npy
wte lookup unit.npy 0
wte lookup demo 0 1 2 3 4 5 | tail -6
# a file of three gigabytes is not written by mistake
wte new --rows 40000 --dim 1 --init zeros -o many.npy > told
wte new --rows 20000 --dim 1 --init zeros -o wide.npy > told
run wte logits many.npy --hidden wide.npy -o l.npy
run wte logits many.npy --hidden wide.npy --ids 1 -o l.npy
