# Temporary files of the folder's own files, which nobody writes to any more, are removed, and nothing else is.
. "$DATA/../cli/lib.sh"
for i in 1 2 3 4 5 6 7 8 9; do echo "the cat sat on the mat"; done > text
mkdir out
for name in .checkpoint.0123abcd.tmp .checkpoint.4567cdef.tmp .model.safetensors.89abcdef.tmp .vocab.txt.00000000.tmp \
    .curve.svg.00000001.tmp .checkpoint.mine.tmp .notes.01234567.tmp checkpoint.0123abcd.tmp; do
    echo half > out/$name
done
run wte train text -o out --method lm --min-count 1 --dim 2 --epochs 1 --threads 1 -v 2>&1 | grep -v memory
ls -A out
echo half > out/.config.json.01234567.tmp
run wte train text -o out --min-count 1 --dim 2 --epochs 1 --threads 1 -v 2>&1 | grep removed
# Beside a text that is no longer there nothing is lost either.
echo half > out/.checkpoint.0123abcd.tmp
run wte train none -o out --method lm
ls -A out | grep -c tmp
