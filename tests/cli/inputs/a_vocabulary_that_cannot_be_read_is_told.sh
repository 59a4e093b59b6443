# Where the numbers depend on it, it is an error: rows without a token would take part, words would be none, tables would be
# compared by ids. Elsewhere one line on stderr says that tokens are missing.
. "$DATA/../cli/lib.sh"
wte new --rows 6 --dim 3 --seed 1 -o w.safetensors > told
mkdir m
cp w.safetensors m/model.safetensors
printf '{"architectures": ["LlamaForCausalLM"], "tie_word_embeddings": true}' > m/config.json
printf '{"a": 0, "b": 1, "c": 2, "d"' > m/vocab.json
echo 1 > t
run wte logits m --hidden 1,2,3 --top 2
run wte logits m --hidden 1,2,3 --top 2 --with-padding
run wte loss m --hidden 1,2,3 --targets t
run wte loss m --hidden 1,2,3 --targets t --with-padding
run wte near m 1 --top 2
run wte near m a
run wte near m 1 --exclude-special
run wte lookup m 1
run wte lookup m a
run wte trace m 1 --quiet
run wte trace m a
run wte diagnose m --id 1 --observed 1,2,3
run wte diff m m
run wte diff m m --by-token
printf '2 3\na 1 2 3\nb 1 0 0\n' > o.vec
run wte diff o.vec m --by-token
run wte eval m --against o.vec
run wte eval o.vec --against m
run wte eval m --isotropy
printf 'a\tb\t1\n' > pairs
run wte eval m --similarity pairs
run wte check m --only vocab-unreadable
run wte lookup m 1 --quiet
