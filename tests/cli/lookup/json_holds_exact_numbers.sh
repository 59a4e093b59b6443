# f32 with nine digits is enough to read the same bits back; NaN and infinities are strings.
wte lookup demo 2 3 --json
. "$DATA/../cli/lib.sh"
printf '\000\000\300\177\000\000\200\177\000\000\200\377\001\000\000\000' | npy t.npy '<f4' False '(2, 2)'
wte lookup t.npy 0 1 --json
wte lookup t.npy 0 1
printf '\001\000\000\000\000\000\040\000\377\377\377\377\377\377\377\377' | npy i.npy '<i8' False '(1, 2)'
wte lookup i.npy 0 --json
wte lookup i.npy 0
