# A typed id that has no row is exit 2, whatever its size; nothing is wrapped.
. "$DATA/../cli/lib.sh"
run wte trace demo 6
run wte trace demo -1
run wte trace demo 18446744073709551619
run wte trace demo
