# --fasttext writes the .bin that fastText would: words, rows of n-grams, the other table. tests/data/fasttext/trained.bin is one,
# which fastText's own command was asked about. --init-from goes on with all of it; a full disk leaves the old file.
. "$DATA/../cli/lib.sh"
exec 2>&1
for i in $(seq 60); do
    echo "die Füße laufen"; echo "der Fuß läuft"; echo "語 日本語 läuft"
done > text
wte train text -o out --dim 4 --max-n 3 --min-n 2 --buckets 16 --epochs 3 --sample 0 --threads 1 -q --fasttext m.bin | cut -d, -f1
cmp m.bin "$DATA/fasttext/trained.bin"
run wte inspect m.bin
wte lookup m.bin 0 1 2 3 4 5 6 7 --npy -o bin.npy
wte lookup out 0 1 2 3 4 5 6 7 --npy -o out.npy
cmp bin.npy out.npy
echo "--- again: nothing changes but the number of epochs"
wte train text -o more --init-from m.bin --epochs 1 --lr 1e-30 --threads 1 -q --fasttext again.bin | cut -d, -f1
cmp m.bin again.bin
wte train text -o more --init-from m.bin --min-n 2 --max-n 3 --buckets 16 --lr 1e-30 --epochs 3 --threads 1 -q --fasttext again.bin | cut -d, -f1
wte diff more out | sed -n 3p
wte train text -o flat --init-from m.bin --max-n 0 --lr 1e-30 --epochs 1 --threads 1 -q | cut -d, -f1
wte diff flat out | sed -n 3p
echo "--- what is refused"
run wte train text -o more --init-from m.bin --max-n 4
run wte train text -o more --init-from m.bin --buckets 17
run wte train text -o more --init-from "$DATA/fasttext/cut.ftz"
run wte train text -o more --method lm --fasttext x.bin
wte train text -o trees --init-from m.bin --hierarchical --epochs 1 --threads 1 -q --fasttext x.bin > told
echo "tree: exit $?"
tail -n 2 text > few
run wte train few -o trees --init-from m.bin --hierarchical --threads 1 -q --fasttext x.bin
echo "--- a full disk"
cp m.bin old
(
    ulimit -f 40
    trap '' XFSZ
    wte train text -o full --dim 4 --max-n 3 --buckets 4000 --threads 1 -q --fasttext m.bin > told
    echo "exit $?"
)
cmp m.bin old
ls -A
