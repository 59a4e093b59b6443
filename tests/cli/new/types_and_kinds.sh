# Other types round the f32 draw; bf16 has no code in .npy, but has one in safetensors.
wte new --rows 2 --dim 3 --dtype f16 -o t.npy
tail -c 12 t.npy | od -An -v -tx2
wte new --rows 2 --dim 3 --dtype bf16 -o t.safetensors
tail -c 12 t.safetensors | od -An -v -tx2
wte new --rows 2 --dim 3 --dtype bf16 -o t.npy
echo "exit $?"
wte new --rows 2 --dim 3 --dtype i32 -o t.npy
echo "exit $?"
wte new --rows 2 --dim 3 --dtype i32 --init zeros --json -o t.npy
wte new --rows 2 --dim 3 --init uniform --low -1 --high 1 --seed 5 -o t.npy
tail -c 24 t.npy | od -An -v -tx4
wte new --rows 2 --dim 3 --init torch-scalar --seed 5 -o t.npy
wte new --rows 0 --dim 3 -o t.npy
