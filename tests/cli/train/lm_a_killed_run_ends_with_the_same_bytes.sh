# kill -9 four times, --resume each time: the files are those of a run that nobody disturbed.
. "$DATA/../cli/lib.sh"
i=0
while [ $i -lt 400 ]; do
    echo "w$((i % 7)) w$((i * i % 11)) w$((i % 3)) w$((i * 3 % 13)) w$((i * i * i % 17)) and w$((i % 5))"
    i=$((i + 1))
done > text
set -- text --method lm --output-layer projected --min-count 1 --dim 32 --batch 8 --epochs 12 --schedule cosine --valid-fraction 0.1 \
    --valid-every 60 -q --checkpoint-every 0.01
wte train "$@" -o whole > told
kills=0
resume=
for seconds in 0.1 0.3 0.2 0.4; do
    wte train "$@" -o broken $resume > told.broken 2>&1 &
    pid=$!
    sleep $seconds
    until [ -f broken/checkpoint ] || [ -f broken/model.safetensors ]; do sleep 0.05; done
    if kill -9 $pid 2>/dev/null; then kills=$((kills + 1)); fi
    if wait $pid 2>/dev/null; then break; fi # it was over before
    if [ -f broken/checkpoint ]; then resume=--resume; else break; fi
done
[ ! -f broken/checkpoint ] || wte train "$@" -o broken --resume > told.broken
[ $kills -ge 1 ] && echo killed
for file in model.safetensors config.json vocab.txt; do cmp whole/$file broken/$file && echo "$file is the same"; done
sed 's/^whole//' told > told.whole
sed 's/^broken//' told.broken | cmp told.whole - && echo 'what is told is the same'
ls broken
