# As stored, the bits are copied; --dtype converts. A type that .npy cannot hold, or that nothing converts to, is said.
. "$DATA/../cli/lib.sh"
wte new --rows 4 --dim 3 --dtype bf16 -o t.safetensors > told
wte lookup t.safetensors 2 --raw | od -An -v -tx2
tail -c 12 t.safetensors | head -c 6 | od -An -v -tx2
wte lookup t.safetensors 2 --raw --dtype f32 | od -An -v -tx4
wte lookup t.safetensors 2 --raw --dtype f16 | od -An -v -tx2
run wte lookup t.safetensors 2 --dtype f64 --json
run wte lookup t.safetensors 2 --npy
run wte lookup t.safetensors 2 --dtype f4
run wte lookup t.safetensors 2 --dtype x
