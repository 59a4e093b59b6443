# Ids have no words to be counted, no lines and no characters: what is about these is not silently ignored.
. "$DATA/../cli/lib.sh"
printf '\001\000\002\000\001\000\002\000' > ids.u16
npy ids.npy '<u2' False '(4,)' < ids.u16
for options in "--min-count 2" "--max-words 3" "--no-eos" "--max-n 6"; do
    run wte train ids.npy $options -o out
    run wte train ids.u16 --ids-type u16 $options -o out
done
run wte train ids.npy --ids-type u16 -o out
run wte train ids.npy --min-count 2 --method lm -o out
# What is about negative samples, n-grams of no characters.
echo a b a b > text
run wte train text --min-count 1 --hierarchical --negative-power 0.5 -o out
run wte train text --min-count 1 --max-n 3 --min-n 0 -o out
ls
