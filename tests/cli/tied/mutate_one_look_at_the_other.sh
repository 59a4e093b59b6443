# The experiment shows one matrix by its bytes and two by theirs; the files are as they were.
python3 "$DATA/../cli/tied/make_models.py"
cat */model.safetensors | cksum > before
wte tied tied
wte tied copy
wte tied one_bit || echo "exit $?"
cat */model.safetensors | cksum > after
cmp before after
