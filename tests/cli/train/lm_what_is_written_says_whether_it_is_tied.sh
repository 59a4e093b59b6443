# Folders of each head, as the other commands see them.
. "$DATA/../cli/lib.sh"
i=0
while [ $i -lt 60 ]; do
    echo 'a rose is a rose is a rose'
    echo 'rose is an apple and an apple is a fruit'
    i=$((i + 1))
done > text
learn() {
    wte train text -o "$1" --method lm --head "$1" --min-count 2 --dim 4 --context 2 --hidden 6 --epochs 2 -q
    wte tied "$1"
    echo "exit $?"
}
for head in tied untied projected untied-projected; do learn $head; done
run wte check projected
run wte inspect untied
run wte logits tied --hidden 1,0,0,-1 --top 2
cat tied/config.json tied/vocab.txt
