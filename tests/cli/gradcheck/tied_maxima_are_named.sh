# Rows that are equal in columns: which of them is the maximum depends on a step.
. "$DATA/../cli/lib.sh"
printf '3 2\na 1 0\nb 1 5\nc 0 5\n' > w.vec
run wte gradcheck w.vec a b c --op bag --bag 3 --threads 2
run wte gradcheck w.vec a b c --op bag --bag 3 --json
