# Texts of tokens, digits as text, and special tokens left out.
. "$DATA/../cli/lib.sh"
MODEL=$DATA/static-f32
run wte near $MODEL hello --top 3
run wte near $MODEL hello - world + 2*peace --top 2
run wte near $MODEL --token 2 --top 1
run wte near $MODEL [CLS] --top 1 --exclude-special --metric dot
run wte near $MODEL hello --top 2 --json
