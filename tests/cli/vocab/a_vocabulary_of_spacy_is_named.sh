# The rows of a spaCy vocabulary are an .npy; its words are hashes that lead to rows, and are not read.
. "$DATA/../cli/lib.sh"
mkdir -p pipeline/vocab
wte new --rows 3 --dim 2 -o t.npy > told
cp t.npy pipeline/vocab/vectors
printf '\201\317\0\0\0\0\0\0\0\1\0' > pipeline/vocab/key2row
echo '["the"]' > pipeline/vocab/strings.json
echo '{"lang": "en"}' > pipeline/meta.json
run wte lookup pipeline 1
run wte lookup pipeline/vocab the
run wte inspect pipeline/vocab/
run wte lookup pipeline/vocab/vectors 1
head -c 140 t.npy > pipeline/vocab/vectors
run wte lookup pipeline/vocab/vectors 1
# without its vectors it is a folder like any other
rm pipeline/vocab/vectors
run wte lookup pipeline 1
