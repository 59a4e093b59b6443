# Same storage and equal bytes are tied, whatever the flag says.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
run wte tied tied copy copy_untied
run wte tied tied
run wte tied copy -q
