# One line on stderr for the model that cannot be read, whose exit code is the command's.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
mkdir empty
run wte tied tied missing copy
run wte tied tied empty
run wte tied tied --head no_such
