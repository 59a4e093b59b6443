# Rows of special tokens that a template uses, or that are named, must be trained.
. "$DATA/../cli/lib.sh"
wte new --rows 5 --dim 2 --seed 3 -o t.npy > told
{ head -c 144 t.npy; printf '\0\0\0\0\0\0\0\0'; printf '\0\0\0\0\0\0\0\0'; tail -c 8 t.npy; } > table.npy
mkdir model
mv table.npy model
cat > model/tokenizer.json <<'JSON'
{"added_tokens": [{"id": 2, "content": "<|user|>", "special": true}, {"id": 3, "content": "<|bot|>", "special": true}],
 "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 4}, "merges": []}}
JSON
echo '{{ "<|user|>" + message }}' > chat.jinja
run wte check model --quiet --template chat.jinja
run wte check model --quiet --tokens 'a,<|bot|>,4' --only tokens-untrained
run wte check model --quiet --tokens a,c --only tokens-untrained
# a template without a token of the tokenizer, and tokenizers that are broken or empty
echo '{{ "[INST]" + message }}' > other.jinja
run wte check model --template other.jinja --only tokens-untrained
echo '{"model": {' > model/tokenizer.json
run wte check model --template chat.jinja
: > model/tokenizer.json
run wte check model --template chat.jinja
rm model/tokenizer.json
run wte check model --template chat.jinja
