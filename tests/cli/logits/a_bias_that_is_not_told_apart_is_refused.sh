# Never left out without a word: the model has one, and which is not clear. --bias says it.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/logits/make_models.py" biases
for model in two unclear short; do run wte logits $model --hidden 1,0; done
printf '0\n' > targets
run wte loss two --hidden 1,0 --targets targets
run wte logits two --hidden 1,0 --top 1 --bias predictions.bias
run wte logits unclear --hidden 1,0 --top 1 --bias none
run wte logits unclear --hidden 1,0 --top 1 --bias 9,0,0
run wte loss unclear --hidden 1,0 --targets targets --bias logits.shift_bias
run wte logits short --hidden 1,0 --top 1 --raw
# what is typed wrong
run wte logits phi --hidden 1,0 --bias absent
run wte logits phi --hidden 1,0 --bias lm_head.weight
run wte logits phi --hidden 1,0 --bias 1,2
run wte logits phi --hidden 1,0 --bias none --raw
