# The same bytes for any number of threads, for every method, and with one thread without asking.
for i in $(seq 2000); do echo "w$((i % 7)) w$((i % 11)) w$((i % 5)) w$((i % 13))"; done > text
for options in "" "--method cbow" "--hierarchical" "--max-n 4 --buckets 100" "--seed 5"; do
    wte train text -o a --dim 8 $options --deterministic --threads 1 -q > told
    wte train text -o b --dim 8 $options --deterministic --threads 3 -q > told
    wte train text -o c --dim 8 $options --threads 1 -q > told
    for file in model.safetensors vocab.txt config.json; do
        cmp a/$file b/$file
        cmp a/$file c/$file
    done
    cksum < a/model.safetensors >> sums
done
sort -u sums | wc -l
