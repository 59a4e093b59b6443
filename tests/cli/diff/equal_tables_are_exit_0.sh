# Bit-equal is said only when all bits are: the same values in another type are exit 1.
. "$DATA/../cli/lib.sh"
wte new --rows 6 --dim 3 --seed 123 -o same.safetensors > told
run wte diff demo same.safetensors
wte lookup demo 0 1 2 3 4 5 --npy --dtype f64 > wide.npy
run wte diff demo wide.npy
