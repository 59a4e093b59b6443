# Input, head, config, flag, factor and companions of a small gpt2; then all candidates and tensors.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
run wte inspect flag_lies
run wte inspect flag_lies -v --all
run wte inspect demo
