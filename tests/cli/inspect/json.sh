# Candidates always, tensors with --all.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
echo '{"hello": 0, "world": 2}' > copy/vocab.json
run wte inspect copy --json --all
run wte inspect demo --json
