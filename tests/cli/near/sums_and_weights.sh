# A sum is made of words of its own; terms are left out of the answer.
. "$DATA/../cli/lib.sh"
run wte near demo 3 + 2 - 5 --top 2
run wte near demo - 3 --top 1
run wte near demo 2*3 - 0.5*1 --top 1 --include-terms
run wte near demo 3 - 3
run wte near demo 3 - 3 --metric euclid --top 1
