# Vectors are worked on some hundred at a time; their numbers in messages and answers count all of them.
. "$DATA/../cli/lib.sh"
{ head -c 6600 /dev/zero; printf '\000\000\300\177'; head -c 596 /dev/zero; } | npy many.npy '<f4' False '(600, 3)'
run wte logits demo --hidden many.npy --sample > told
tail -1 told
run wte logits demo --hidden many.npy --top 1 > told
grep -A 3 'vector 550' told
tail -1 told
