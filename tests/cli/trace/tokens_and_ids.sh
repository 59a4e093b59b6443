# Digits are ids, other words are token texts, and --token makes texts of digits.
. "$DATA/../cli/lib.sh"
mkdir model
wte new --rows 4 --dim 2 --name wte.weight -o model/model.safetensors > told
printf 'zero\n3\ntwo\n\033[31mred\n' > model/vocab.txt
run wte trace model two 3
run wte trace model 3 --token
run wte trace model four
run wte trace demo three
