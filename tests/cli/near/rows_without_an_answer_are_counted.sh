# A row of zeros has no direction, and one with NaN no distance.
printf '\000\000\000\000\000\000\000\000\000\000\300\177\000\000\200\077\000\000\200\077\000\000\000\100' > rows
. "$DATA/../cli/lib.sh"
npy rows.npy '<f4' False '(3, 2)' < rows
run wte near rows.npy 2 --include-terms
run wte near rows.npy 2 --include-terms --metric euclid
run wte near rows.npy 0
run wte near rows.npy 1
