# NaN ranks last and is told; infinities print as such.
. "$DATA/../cli/lib.sh"
printf '\000\000\300\177\000\000\200\077\000\000\200\377' | npy t.npy '<f4' False '(3, 1)' # NaN, 1, -inf
run wte logits t.npy --hidden 1
run wte logits t.npy --hidden 1 --ids 0,1,2
wte logits t.npy --hidden 1 --ids 0,1,2 --json | tail -8
