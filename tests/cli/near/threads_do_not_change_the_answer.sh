# Any number of threads and any instruction set print the same bits.
wte new --rows 5000 --dim 300 --seed 1 --dtype bf16 -o t.safetensors > told
for metric in cosine dot euclid; do
    wte near t.safetensors 17 --metric $metric --top 40 --threads 1 --json > one
    for threads in 2 5; do
        wte near t.safetensors 17 --metric $metric --top 40 --threads $threads --json | cmp one -
    done
    WTE_ISA=scalar wte near t.safetensors 17 --metric $metric --top 40 --json | cmp one -
done
wc -l < one
