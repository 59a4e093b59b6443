# spaCy's vocab folder, and the WordEmbeddings of sentence-transformers: rows are named.
. "$DATA/../cli/lib.sh"
mkdir -p nlp/vocab we/0_WordEmbeddings
wte new --rows 2 --dim 2 --seed 1 -o t.npy > told
mv t.npy nlp/vocab/vectors
printf '\201\317\054\141\122\374\023\102\316\221\001' > nlp/vocab/key2row
echo '["tea", "coffee"]' > nlp/vocab/strings.json
run wte lookup nlp coffee
run wte lookup nlp/vocab 1
run wte lookup nlp tea
echo '{' > nlp/vocab/strings.json
run wte lookup nlp 1
wte new --rows 2 --dim 2 --seed 1 -o t.safetensors > told
mv t.safetensors we/0_WordEmbeddings/model.safetensors
echo '{"vocab": ["the", "cat"], "stop_words": []}' > we/0_WordEmbeddings/whitespacetokenizer_config.json
run wte lookup we cat
