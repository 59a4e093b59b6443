# kill -9 at any moment: from the last checkpoint on, the run ends with the bytes of one that was not killed.
for i in $(seq 60000); do echo "w$((i % 7)) w$((i % 11)) w$((i % 5)) w$((i % 13)) w$((i % 97))"; done > text
set -- text --dim 64 --epochs 30 --window 10 --negative 15 --deterministic --threads 1 -q
wte train "$@" -o whole > told
resume=
for delay in 0.2 0.3 0.1 0.2; do
    wte train "$@" -o broken --checkpoint-every 0.03 $resume > told &
    sleep $delay
    if kill -9 $! 2> kill; then
        wait $! 2> kill
    fi
    resume=
    [ ! -e broken/checkpoint ] || resume=--resume
    [ -z "$resume" ] || echo "a checkpoint is there" > resumed
done
cat resumed
[ ! -e broken/checkpoint ] || wte train "$@" -o broken --checkpoint-every 10 --resume > told
cmp whole/model.safetensors broken/model.safetensors
ls broken
wte train text -o broken --dim 64 --resume --threads 1 -q
echo "exit $?"
