# A checkpoint of an earlier run is neither overwritten nor taken for that of another one, and a full disk leaves it.
. "$DATA/../cli/lib.sh"
i=0
while [ $i -lt 300 ]; do
    echo "w$((i % 7)) w$((i * i % 11)) w$((i % 3)) w$((i * 3 % 13))"
    i=$((i + 1))
done > text
learn() {
    run wte train text -o out --method lm --min-count 1 --dim 8 -q "$@"
}
learn --resume
learn --time-limit 0.000001
cp out/checkpoint kept
learn
learn --resume --context 2
learn --resume --output-layer untied
sed 's/w1/w2/' text > other
run wte train other -o out --method lm --min-count 1 --dim 8 -q --resume
(
    ulimit -f 4
    trap '' XFSZ
    learn --resume --checkpoint-every 0.000001
)
cmp out/checkpoint kept
learn --resume
ls out
