# tensors.tsv and metadata.tsv of TensorFlow's projector: the folder or the table, with its words, never with those of another row.
. "$DATA/../cli/lib.sh"
exec 2>&1
mkdir one several title npy
printf '0.5\t1\n2\t3\n4\t5.5\n' > one/tensors.tsv
cp one/tensors.tsv several/vectors.tsv
cp one/tensors.tsv title
printf 'king\nqueen\nman\n' > one/metadata.tsv
printf 'count\tword\n3\tking\n2\tqueen\n9\tman\n' > several/metadata.tsv
printf 'word\nking\nqueen\nman\n' > title/metadata.tsv
printf '\000\000\000\077\000\000\200\077\000\000\000\100' | npy npy/table.npy '<f4' False '(3, 1)'
cp one/metadata.tsv npy
for model in one one/tensors.tsv several several/vectors.tsv npy; do run wte lookup -q $model 0 queen; done
run wte lookup -q title 1
run wte lookup -q title queen
run wte inspect title
run wte check one
run wte inspect one/metadata.tsv
