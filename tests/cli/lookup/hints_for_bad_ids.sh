# A token beyond the table, and a vocab_size that the table does not have, are told with the bad id.
. "$DATA/../cli/lib.sh"
mkdir model
wte new --rows 3 --dim 2 --name model.embed_tokens.weight -o model/model.safetensors > told
printf 'zero\none\ntwo\nthree\n[PAD]\n' > model/vocab.txt
echo '{"model_type": "llama", "vocab_size": 8, "hidden_size": 2}' > model/config.json
run wte lookup model 2 4 3 6 9
run wte lookup model '[PAD]'
run wte lookup model one two
