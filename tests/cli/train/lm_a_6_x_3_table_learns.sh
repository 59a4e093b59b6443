# Words that stand in the same places come to lie together: cat, dog and bird; sat and ran. The same on every machine.
. "$DATA/../cli/lib.sh"
for i in 1 2 3 4 5; do
    echo 'the cat sat the dog sat the cat ran the dog ran the bird sat the bird ran'
done > text
wte train text -o learned --method lm --no-eos --min-count 1 --dim 3 --context 1 --batch 4 --epochs 8 --lr 0.05 \
    --log-every 40 --show-table -q
run wte near learned cat -q
run wte tied learned
