# A word that is no number is the text of a token; --token makes digits one too.
. "$DATA/../cli/lib.sh"
run wte lookup "$DATA/static-f32" hello 5 the
run wte lookup "$DATA/static-f32" 2
run wte lookup "$DATA/static-f32" --token 2
run wte lookup "$DATA/static-f32" hello --json
run wte lookup "$DATA/static-f32" notatoken
run wte lookup demo hello
run wte lookup "$DATA/static-f32/model.safetensors" 6598
