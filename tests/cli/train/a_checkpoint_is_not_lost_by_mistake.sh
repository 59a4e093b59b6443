# A checkpoint of word vectors is neither overwritten by a new run nor taken by another method.
echo "a b a c a b d" > text
wte train text -o out --min-count 1 --dim 4 --method lm --time-limit 0.000001 -q > told
wte train text -o out --min-count 1 --dim 4 --resume --threads 1 -q
echo "exit $?"
cp out/checkpoint kept
wte train text -o out --min-count 1 --dim 4 --checkpoint-every 1 --threads 1 -q
echo "exit $?"
cmp out/checkpoint kept
rm out/checkpoint
wte train text -o out --min-count 1 --dim 4 --checkpoint-every 1 --threads 1 -q > told
echo "exit $?"
