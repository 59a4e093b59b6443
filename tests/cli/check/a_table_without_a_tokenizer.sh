# The built-in table has no tokenizer: that is all there is to say.
. "$DATA/../cli/lib.sh"
run wte check demo
run wte check demo --quiet
