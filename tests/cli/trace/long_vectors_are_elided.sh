# Long vectors and byte rows lose their middle, unless --full.
. "$DATA/../cli/lib.sh"
wte new --rows 3 --dim 12 --dtype bf16 -o t.safetensors > told
run wte trace t.safetensors 1
run wte trace t.safetensors 1 --full
