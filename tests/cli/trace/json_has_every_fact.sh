# The JSON has what the text shows, with the digits that give the same numbers back.
. "$DATA/../cli/lib.sh"
run wte trace demo 3 --json
