# What would be ignored, or cannot be, is a usage error.
echo a b > text
for options in "" "-o out --dim 0" "-o out --window 0" "-o out --epochs 0" "-o out --method glove" "-o out --min-n 3" \
    "-o out --buckets 5" "-o out --hierarchical --negative 5" "-o out --threads 0" "-o out --threads 257" \
    "-o out --lr x" "-o out --sample -" "-o out --lr 0" "-o out --negative-power 0" "-o out --time-limit 0" \
    "-o out --checkpoint-every 0" "-o out --ids-type u16 --min-count 2" "-o out --ids-type u16 --no-eos" \
    "-o out --init-from table --max-words 3" \
    "-o out --sample -1" "-o out --sample nan" "-o out --method lm --clip -2" \
    "-o out --method lm --output-layer projected --projection-decay nan" "-o out --min-count 1 --window 65" \
    "-o out --min-count 1 --lr -1"; do
    wte train text $options
    echo "$options: exit $?"
done
wte train text -o text
echo "exit $?"
ls
