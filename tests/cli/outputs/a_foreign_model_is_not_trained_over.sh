# wte train replaces what it made itself, and nothing else; what cannot be written is told before the work.
. "$DATA/../cli/lib.sh"
for i in 1 2 3 4 5 6 7 8 9; do echo "the cat sat on the mat"; done > text
train() { wte train "$@" --min-count 1 --dim 2 --epochs 1 --deterministic -q 2>&1 | sed 's/: 6 x 2 f32.*/: trained/'; }
mkdir m
wte new --rows 3 --dim 2 -o m/model.safetensors -q > /dev/null
cksum m/* > before
train text -o m
cksum m/* | cmp - before
train text -o out
train text -o out --word2vec out/vectors.txt
train text -o out --init-from out
train out/vocab.txt -o out
train text -o out --word2vec out/config.json
train text -o out --word2vec out/tokenizer.json
train text -o out --word2vec v --fasttext ./v
train text -o more --word2vec text
train text -o more --fasttext none/v.bin
train text -o -
echo mine > out/tokenizer.json
train text -o out
ls -A . out
