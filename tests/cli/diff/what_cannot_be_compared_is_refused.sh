. "$DATA/../cli/lib.sh"
wte new --rows 6 --dim 4 --seed 123 -o wide.safetensors > told
run wte diff demo wide.safetensors
run wte diff demo
run wte diff demo demo demo
run wte diff demo none.safetensors
run wte diff demo demo --top x
