# Gemma multiplies by sqrt(dim), rounded to the table's type: in bf16 sqrt(8) = 2.828 is 2.828125.
. "$DATA/../cli/lib.sh"
mkdir model
wte new --rows 3 --dim 8 --dtype bf16 --name model.embed_tokens.weight -o model/model.safetensors > told
echo '{"model_type": "gemma", "hidden_size": 8, "vocab_size": 3}' > model/config.json
run wte trace model 1
