# What training writes - the folder, word2vec's text, fastText's .bin, with and without n-grams - is one table to every command.
. "$DATA/../cli/lib.sh"
exec 2>&1
royal
for i in $(seq 200); do
    echo "king queen prince princess throne crown"; echo "apple eats bread milk fish meat"
    echo "prince throne queen king crown princess"; echo "milk apple meat bread eats fish"; echo "man woman king queen"
done > text

# answers TABLE: what commands say of its numbers and words, without the names that differ.
answers() {
    wte lookup "$1" king apple '</s>' --full | tail -n +2
    wte near "$1" king --top 3 | tail -n +2
    wte eval "$1" --similarity pairs.tsv --analogy questions.txt --json | grep -e spearman -e total
    wte inspect "$1" | grep -e '^  vocab' | sed 's/, from .*//'
    wte check "$1" -q | sed '1d;/head rows/d;/config vocab_size/d'
}

for grams in "" "--max-n 4 --buckets 64"; do
    echo "=== $grams"
    wte train text -o out $grams --dim 8 --sample 0 --epochs 20 --threads 1 -q --word2vec out.vec --fasttext out.bin |
        cut -d, -f1
    answers out | tee out.answers
    for table in out.vec out.bin; do
        answers "$table" > "$table.answers"
        cmp out.answers "$table.answers"
        wte diff out "$table" > told
        echo "diff: exit $?"
        sed -n 3p told
        wte inspect "$table" | head -2
    done
    for table in out out.vec out.bin; do wte tied "$table" -q | head -1; done
done
