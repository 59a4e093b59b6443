# The worked example: id 3 names row index 3, which is the fourth row. The last row is the sixth.
. "$DATA/../cli/lib.sh"
run wte trace demo 3
run wte trace demo 5 --threads 1
