# 64-bit integers that no double holds are shown as they are stored, in text and in JSON.
. "$DATA/../cli/lib.sh"
printf '\001\000\000\000\000\000\040\000\377\377\377\377\377\377\377\177' | npy i.npy '<i8' False '(1, 2)'
wte trace i.npy 0 | grep vector
wte trace i.npy 0 --json | grep vector
printf '\001\000\000\000\000\000\040\000\377\377\377\377\377\377\377\377' | npy u.npy '<u8' False '(1, 2)'
wte trace u.npy 0 | grep vector
wte trace u.npy 0 --json | grep vector
