# --init-from keeps a table's ids and begins with its rows; word vectors of any format and folders are tables.
for i in $(seq 500); do
    echo "the cat eats fish"; echo "the dog eats meat"
done > text
wte train text -o first --dim 8 --threads 1 --word2vec first.vec -q > told
head -1 first.vec
wte train text -o second --init-from first --epochs 1 --lr 1e-30 --threads 1 -q > told
wte diff first second | tail -3
wte train text -o third --init-from first.vec --epochs 1 --lr 1e-30 --threads 1 -q > told
wte diff first third --tensor embedding.weight | tail -3
cmp first/vocab.txt third/vocab.txt
wte train text -o fourth --init-from first --dim 9 --threads 1 -q
echo "exit $?"
wte new --rows 3 --dim 8 -o bare.safetensors > told
wte train text -o fourth --init-from bare.safetensors --threads 1 -q
echo "exit $?"
