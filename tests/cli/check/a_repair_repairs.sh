# The repair of a wrong vocab_size, as it is printed, is run: the fault is gone. It is made with jq.
. "$DATA/../cli/lib.sh"
command -v jq > /dev/null || { echo "jq is not installed"; exit 77; }
mkdir "my model"
wte new --rows 5 --dim 2 --seed 3 -o "my model/model.safetensors" > told
printf '{"model_type": "llama", "vocab_size": 7, "hidden_size": 2}' > "my model/config.json"
wte check "my model" --only config-vocab-larger > before
grep -c '^error' before
sed -n 's/^    repair //p' before > repair
sh repair
run wte check "my model" --only config-vocab-larger
