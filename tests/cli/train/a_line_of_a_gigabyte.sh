# Memory does not grow with a line: 1 GiB of it, most of which is NUL bytes, which are white space.
if ! wte version --json | grep -q '"sanitizer": null'; then
    echo "a sanitizer takes memory of its own"
    exit 77
fi
for i in $(seq 50); do printf 'a b c d '; done > text
truncate -s 1G text
printf ' a b c d a b c d' >> text
ulimit -v 400000
wte train text -o out --dim 8 --epochs 1 --threads 1 -q --json | grep -o '"done": [0-9]*, "total": [0-9]*' | tail -1
cat out/vocab.txt
