# --id: the hidden vector is the token's own row, times the family's factor: gemma's sqrt(2), in the table's type.
# Rows [1, 0] and [3, 4]: 3 * 1.41421354 = 4.2426 and 25 * 1.41421354 = 35.3553 for id 1.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/logits/make_models.py"
run wte logits demo --id 3 --top 2
run wte logits gemma --id 1 --id 0
run wte logits gemma --id 1 --raw --ids 0,1
run wte logits padded --id three --top 3
run wte logits padded --id 3 --token
run wte logits demo --id 6
run wte logits demo --id -1
# the input table is wider than the head
run wte logits narrow --id 1
