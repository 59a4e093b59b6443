# Two rows too many in the config, a row of NaN, a zero row, two equal rows.
. "$DATA/../cli/lib.sh"
wte new --rows 5 --dim 2 --init zeros -o t.npy > told
{ head -c 128 t.npy; printf '\0\0\200\077\0\0\0\100'; printf '\0\0\0\0\0\0\0\0'; printf '\0\0\300\177\0\0\200\077'
  printf '\0\0\0\100\0\0\200\100'; printf '\0\0\0\100\0\0\200\100'; } > table.npy
mkdir model
cp table.npy model/table.npy
printf '{"model_type": "llama", "vocab_size": 7, "hidden_size": 2}' > model/config.json
printf 'a\nb\nc\nd\ne\n' > model/vocab.txt
cp -r model before
run wte check model --only rows-zero,rows-nonfinite --only rows-duplicate,config-vocab-larger
run wte check model --only rows-zero
run wte check model --only rows-zero --fail-on warn
diff -r model before && echo "the model is as it was"
