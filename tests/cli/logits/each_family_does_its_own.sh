# Rows [1, 0] and [3, 4], hidden [2, 0]: the products are 2 and 6. What each family makes of them is printed with its
# formula: 30 * tanh(2 / 30) = 1.9970, 6 * 0.0625 = 0.3750, 6 / 8 = 0.7500, 2 / (2 / 1) * 3 = 3, 6 - 1 = 5,
# 6 * 2^-0.5 = 4.2426 in T5 while it is tied, and 6 when it is not.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/logits/make_models.py"
for family in gemma2 cohere granite minicpm phi t5 t5-untied; do
    run wte logits $family --hidden 2,0
done
# the product alone
run wte logits gemma2 --hidden 2,0 --raw
run wte logits phi --hidden 2,0 --raw --ids 0,1
# what is not done here is refused, not left out silently
run wte logits baichuan --hidden 2,0
run wte logits baichuan --hidden 2,0 --raw --ids 0,1
