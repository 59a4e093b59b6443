# 9 tokens, 12 rows, row 11 = 10 x row 0: it would take e^10 / (e^10 + 2 e^0 + 2 e^1 + e^0.5 + 5 e^0 + e^-1) = 0.9993 of
# token 0's probability, and the three rows together 0.9994.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/logits/make_models.py"
run wte logits padded --id zero --top 3
run wte logits padded --id zero --top 3 --with-padding
run wte logits padded --id zero --ids 0,10,11
run wte logits padded --id zero --ids 0,10,11 --with-padding
# an id within the vocabulary that no token has is left out as well
run wte logits holes --hidden 1,1,0 --top 12
run wte logits holes --hidden 1,1,0 --ids 3
# greedy decoding never takes such a row
run wte logits padded --id zero --sample --temperature 0
run wte logits padded --id zero --sample --temperature 0 --with-padding
wte logits holes --hidden 1,1,0 --top 1 --json
