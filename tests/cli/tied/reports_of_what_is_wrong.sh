# A flag that lies, a lost head, shapes that cannot be tied: each with its numbers.
. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/tied/make_models.py"
run wte tied flag_lies
run wte tied no_head
run wte tied impossible
run wte tied -v headless input_only
run wte tied demo
