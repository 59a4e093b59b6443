# Rows without a token, and tokens without a row; a vocabulary that cannot be read.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
echo '{"a": 0, "b": 1, "c": 3}' > tied/vocab.json
echo '{"a": 0, "b": 9}' > copy/vocab.json
echo '{"a": 0, ' > one_bit/vocab.json
for model in tied copy one_bit; do run wte inspect $model | grep -A 1 -e '\$' -e vocab | grep -v -e '--' -e beside -e safetensors,; done
