# Options that do not fit together, texts that are too short, rates that are too large: told, and nothing is written.
. "$DATA/../cli/lib.sh"
i=0
while [ $i -lt 200 ]; do
    echo "w$((i % 7)) w$((i * i % 11)) w$((i % 3))"
    i=$((i + 1))
done > text
learn() {
    run wte train "$@" -o out --method lm --min-count 1 -q
}
learn text --patience 3
learn text --valid-every 10
learn text --valid text --valid-fraction 0.1
learn text --valid-fraction 0.7
learn text --momentum 0.9
learn text --projection-decay 1
learn text --window 3
learn text --context 0
learn text --lr -1
learn text --context 5000
learn text --show-table --dim 100
printf '5 12 3\n' > ids
learn text --train-ids ids --dim 2
echo 'three words only' > short
learn short
: > empty
learn empty
learn text --valid empty
learn text --optimizer sgd --lr 1e20 --dim 4
ls
