# 0 x NaN is NaN: the product is left out. A table in columns is read piece by piece.
. "$DATA/../cli/lib.sh"
printf '\000\000\200\077\000\000\300\177\000\000\000\100\000\000\100\100' | npy nan.npy '<f4' False '(2, 2)'
run wte trace nan.npy 1
printf '\000\000\200\077\000\000\000\100\000\000\100\100\000\000\200\100\000\000\240\100\000\000\300\100' |
    npy columns.npy '<f4' True '(3, 2)'
run wte trace columns.npy 1
