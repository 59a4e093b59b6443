# A text becomes a folder that every command reads: inspect, lookup, near, check, tied.
for i in $(seq 500); do
    echo "the cat eats fish"; echo "the dog eats meat"
    echo "a cat drinks milk"; echo "a dog drinks water"
done > text
wte train text -o animals --dim 16 --epochs 10 --sample 0 --threads 1
ls animals
wte near animals cat --top 1 | tail -1
wte inspect animals
wte lookup animals cat --json | grep -c dtype
wte check animals -q
wte tied animals | head -1
head -c 60 animals/curve.svg
