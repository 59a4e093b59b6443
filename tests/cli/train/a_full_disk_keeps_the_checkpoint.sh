# When a checkpoint cannot be written the run ends with exit 5, and the one before is whole.
for i in $(seq 20000); do echo "w$((i % 7)) w$((i % 11)) w$((i % 5)) w$((i % 13)) w$((i % 97))"; done > text
set -- text -o out --dim 64 --deterministic --threads 1 -q --checkpoint-every 0.01
wte train "$@" --epochs 500 > told &
sleep 0.4
kill -9 $!
wait $! 2> /dev/null
cp out/checkpoint old
rm -f out/.checkpoint.*.tmp # it may have been killed while it wrote the next one
(
    ulimit -f 8
    trap '' XFSZ
    wte train "$@" --epochs 500 --resume
    echo "exit $?"
)
cmp out/checkpoint old
ls -A out
