# The same seed draws the same rows whatever the number of threads; temperature 0 and top-k 1 are greedy.
. "$DATA/../cli/lib.sh"
wte new --rows 50 --dim 3 --seed 2 -o h.npy > told
for seed in 1 2; do
    wte logits demo --hidden h.npy --sample --seed $seed > drawn-$seed
    wte logits demo --hidden h.npy --sample --seed $seed --threads 1 | cmp - drawn-$seed
done
cmp -s drawn-1 drawn-2 && echo "two seeds draw the same"
run wte logits demo --hidden h.npy --sample --seed 1 | head -5
wte logits demo --hidden h.npy --top 1 | awk '$1 == 1 && NF == 5 {print $2}' > largest
for greedy in '--temperature 0' '--top-k 1' '--top-p 0.0001' '--min-p 1'; do
    wte logits demo --hidden h.npy --sample $greedy | awk 'NF == 4 && $1 ~ /^[0-9]+$/ {print $2}' | cmp - largest
done
wc -l < largest
# 50 draws of one vector from two equal rows: both come
printf '\000\000\200\077\000\000\200\077' | npy equal.npy '<f4' False '(2, 1)'
wte new --rows 50 --dim 1 --init zeros -o zeros.npy > told
wte logits equal.npy --hidden zeros.npy --sample | awk 'NF == 4 && $1 ~ /^[0-9]+$/ {print $2, $3}' | sort -u
run wte logits demo --hidden 1,0,0 --sample --temperature 0 --json
