# The same facts as JSON: sizes, rows, findings with the texts of tokens.
. "$DATA/../cli/lib.sh"
wte new --rows 3 --dim 2 --init zeros -o t.npy > told
{ head -c 128 t.npy; printf '\0\0\200\077\0\0\0\100'; printf '\0\0\0\0\0\0\0\0'; printf '\0\0\300\177\0\0\200\077'; } > table.npy
mkdir model
cp table.npy model/table.npy
printf 'a\nb\nc\n' > model/vocab.txt
run wte check model --json
run wte check model --only glitch-candidates --glitch 2 --json
