# Two vocabularies number the same tokens in two ways.
. "$DATA/../cli/lib.sh"
for model in a b; do
    mkdir $model
    echo '{"model_type": "gpt2", "vocab_size": 4, "hidden_size": 3}' > $model/config.json
done
wte new --rows 4 --dim 3 --seed 5 --name wte.weight -o a/model.safetensors > told
echo '{"the": 0, "cat": 1, "sat": 2, "on": 3}' > a/vocab.json
wte lookup a 0 2 1 3 --npy > b/wte.npy
rm b/config.json
echo '{"the": 0, "sat": 1, "cat": 2, "mat": 3}' > b/vocab.json
run wte diff a b/wte.npy
run wte diff a b/wte.npy --by-token
run wte diff a b/wte.npy --by-token --json
run wte diff a a --by-token
run wte diff a demo --by-token
run wte diff demo a --by-token
