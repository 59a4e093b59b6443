# kill -9 at any moment: from the last checkpoint on, the run ends with the bytes of one that was not killed.
for i in $(seq 60000); do echo "w$((i % 7)) w$((i % 11)) w$((i % 5)) w$((i % 13)) w$((i % 97))"; done > text
set -- text --dim 64 --epochs 30 --window 10 --negative 15 --deterministic --threads 1 -q
wte train "$@" -o whole > told
resume=
for n in 1 2 3 4; do
    # a file that is newer than the checkpoint there is, and older than the next one
    touch before
    wte train "$@" -o broken --checkpoint-every 0.03 $resume > told &
    while [ ! broken/checkpoint -nt before ] && kill -0 $! 2> kill; do sleep 0.01; done
    if kill -9 $! 2> kill; then
        wait $! 2> kill
        [ -e broken/checkpoint ] || echo "no checkpoint after kill $n"
    fi
    resume=--resume
    [ -e broken/checkpoint ] && continue
    [ "$n" -gt 1 ] || echo "the run was over before its first checkpoint"
    break
done
[ ! -e broken/checkpoint ] || wte train "$@" -o broken --checkpoint-every 10 --resume > told
cmp whole/model.safetensors broken/model.safetensors
ls broken
wte train text -o broken --dim 64 --resume --threads 1 -q
echo "exit $?"
