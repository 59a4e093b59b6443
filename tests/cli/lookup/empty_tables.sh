# A table without rows answers no id; one without columns gives empty vectors.
. "$DATA/../cli/lib.sh"
wte new --rows 0 --dim 3 -o rows.safetensors > told
run wte lookup rows.safetensors 0
wte new --rows 3 --dim 0 -o columns.safetensors > told
run wte lookup columns.safetensors 2 1
run wte lookup columns.safetensors 2 --json
wte lookup columns.safetensors 2 --raw | wc -c
