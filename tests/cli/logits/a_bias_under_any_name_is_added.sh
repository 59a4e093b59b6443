# The products of [1, 0] are 3, 2 and 1; the bias 0, 0, 5 makes id 2 the best, with 6.
python3 "$DATA/../cli/logits/make_models.py" biases
for model in phi phi-msft phimoe xlnet xlm internlm modernbert bert deberta electra bart copies phi2.gguf tied.gguf; do
    echo "$model: $(wte logits $model --hidden 1,0 --top 1 | sed -n 's/^  logits    //p; s/^     1  *//p' | tr '\n' ' ')"
done
# a tensor that another layer has beside its weights is no bias of the head, and the classifier's none in a GGUF file
for model in owned cls.gguf; do
    echo "$model: $(wte logits $model --hidden 1,0 --top 1 | sed -n 's/^  logits    //p; s/^     1  *//p' | tr '\n' ' ')"
done
