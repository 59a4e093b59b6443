# A second safetensors file in a model's folder, and weights of another kind.
. "$DATA/../cli/lib.sh"
mkdir model
wte new --rows 4 --dim 2 -o model/model.safetensors > told
wte new --rows 2 --dim 2 -o "model/it's old.safetensors" > told
echo weights > model/pytorch_model.bin
wte new --rows 4 --dim 2 --dtype f16 -o model/model.fp16.safetensors > told
run wte check model --only stray-weight-file,other-weight-file
