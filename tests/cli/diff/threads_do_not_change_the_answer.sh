wte new --rows 5000 --dim 100 --seed 1 -o a.safetensors > told
wte new --rows 5000 --dim 100 --seed 1 --dtype bf16 -o b.safetensors > told
wte diff a.safetensors b.safetensors --top 40 --threads 1 --json > one
for threads in 2 5; do wte diff a.safetensors b.safetensors --top 40 --threads $threads --json | cmp one -; done
sed -n '/"rows": {/,/}/p; /decades/p' one
