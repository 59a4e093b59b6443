# f32, f16, f64 and integers, by rows or by columns, one vector or several, from a file or a pipe.
. "$DATA/../cli/lib.sh"
printf '\000\000\200\077\000\000\000\000\000\000\000\300' | npy f32.npy '<f4' False '(3,)' # 1, 0, -2
printf '\000\074\000\000\000\300' | npy f16.npy '<f2' False '(1, 3)'
printf '\001\000\376' | npy i8.npy '|i1' False '(1, 3)'
wte new --rows 2 --dim 3 --seed 4 --dtype f64 -o f64.npy > told
run wte logits demo --hidden f32.npy --ids 0,5
run wte logits demo --hidden f16.npy --ids 0,5
run wte logits demo --hidden i8.npy --ids 0,5
run wte logits demo --hidden '[1, 0, -2]' --ids 0,5
run wte logits demo --hidden f64.npy --ids 0,5
echo '$ wte logits demo --hidden - --ids 0,5 < f32.npy'
wte logits demo --hidden - --ids 0,5 < f32.npy
# two columns of three: [1, 0] and [0, 1] and [-2, 4] as rows of a transposed array
printf '\001\000\000\001\376\004' | npy columns.npy '|i1' True '(2, 3)'
run wte logits demo --hidden columns.npy --ids 0
# one number too many, and none at all
run wte logits demo --hidden 1,0,-2,4
wte new --rows 2 --dim 4 -o wide.npy > told
run wte logits demo --hidden wide.npy
: > empty.npy
run wte logits demo --hidden empty.npy
run wte logits demo --hidden absent.npy
printf '' | npy none.npy '<f4' False '(0, 3)'
run wte logits demo --hidden none.npy
