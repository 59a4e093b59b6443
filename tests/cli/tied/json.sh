# The facts of a tied, an independent and an unreadable model.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
run wte tied tied flag_lies missing --json
