# Every id is the padding id: the sparse gradient has no row at all, and each operation still compares.
. "$DATA/../cli/lib.sh"
run wte gradcheck demo 3 --padding-id 3
run wte gradcheck demo 3 3 --padding-id 3 --op bag --bag 1
