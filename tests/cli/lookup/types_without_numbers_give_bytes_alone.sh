# What is known by its size alone is refused before a line is printed; --raw and --npy copy its bytes.
. "$DATA/../cli/lib.sh"
printf '\000\000\200\077\000\000\000\100' | npy c.npy '<c8' False '(1, 1)'
run wte lookup c.npy 0
run wte lookup c.npy 0 --json
run wte lookup c.npy 0 --raw --dtype f32
wte lookup c.npy 0 --raw | od -An -tx1
wte lookup c.npy 0 --npy | tail -c 8 | od -An -tx1
printf '\000\001\001\000' | npy b.npy '|b1' False '(2, 2)'
run wte lookup b.npy 1
