# Ids are not the words of a text, nor words of a text ids: neither is validated on the other.
. "$DATA/../cli/lib.sh"
for i in 1 2 3 4 5 6 7 8; do printf '\001\000\002\000\003\000\002\000'; done > ids.u16
npy ids.npy '<u2' False '(32,)' < ids.u16
for i in 1 2 3 4 5 6 7 8; do echo "1 2 3 2"; done > text
learn() {
    run wte train "$@" -o out --method lm --dim 2 --context 1 --epochs 1 --threads 1
}
learn text --min-count 1 --valid ids.npy
learn ids.npy --valid text
learn ids.npy --valid none
learn ids.u16 --ids-type u16 --valid ids.npy
learn text --min-count 1 --valid none
ls
learn ids.npy --valid ids.npy -q
learn ids.u16 --ids-type u16 --valid ids.u16 -q
learn text --min-count 1 --valid text -q
# Rows that learn are named in a text, whatever --ids-type says of the corpus.
echo 1 2 > some
learn ids.u16 --ids-type u16 --train-ids some -q
