# Blocks of one type are bit-equal when decoded; the same numbers in f32 are equal, but not bit-equal.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/diff/make_quantised.py"
run wte diff q8_0.gguf q8_0.gguf
run wte diff q8_0.gguf f32.npy
run wte near q8_0.gguf 0 --top 1
