# A second run into the same folder is told; nothing of the first is touched.
. "$DATA/../cli/lib.sh"
for i in 1 2 3 4 5 6 7 8 9; do echo "the cat sat on the mat"; done > text
mkdir out
echo half > out/.checkpoint.0123abcd.tmp
run flock out wte train text -o out --method lm --min-count 1 --dim 2
run flock out wte train text -o out --min-count 1 --dim 2 --resume
ls -A out
run wte train text -o out --min-count 1 --dim 2 --threads 1 -q > told
tail -1 told
