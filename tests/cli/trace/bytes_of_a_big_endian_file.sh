# The bytes are those of the vector; where the file has them the other way round, this is said.
. "$DATA/../cli/lib.sh"
printf '\077\200\000\000\100\000\000\000' | npy b.npy '>f4' False '(1, 2)'
wte trace b.npy 0
wte trace b.npy 0 --json | grep big_endian
tail -c 8 b.npy | od -An -tx1
# nothing is printed when one of the ids has no row
run wte trace b.npy 0 1
run wte trace demo 3 99 --json
