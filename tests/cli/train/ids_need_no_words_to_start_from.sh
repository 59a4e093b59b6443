# A table without a vocabulary serves a corpus of ids: its rows are ids, and the largest id must have one.
. "$DATA/../cli/lib.sh"
wte new --rows 5 --dim 2 -o bare.npy > told
for i in 1 2 3 4 5 6 7 8; do printf '\001\000\002\000\003\000\002\000'; done > ids.u16
printf '\005\000' | cat ids.u16 - > beyond.u16
npy ids.npy '<u2' False '(32,)' < ids.u16
echo 1 2 3 > text
for method in skip-gram cbow lm; do
    wte train ids.u16 --ids-type u16 --init-from bare.npy -o $method --method $method --threads 1 --epochs 1 -q > told
    tr '\n' ' ' < $method/vocab.txt
    echo
done
# Rows that no id names keep their values.
wte train ids.npy --init-from bare.npy -o npy --threads 1 --epochs 1 --lr 1e-30 -q > told
wte lookup bare.npy 0 4 > one
wte lookup npy 0 4 > two
tail -2 one
tail -2 two
for method in skip-gram lm; do
    run wte train beyond.u16 --ids-type u16 --init-from bare.npy -o out --method $method
    run wte train text --init-from bare.npy -o out --method $method
done
