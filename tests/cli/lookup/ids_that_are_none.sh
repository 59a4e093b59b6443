# What is no id is refused with its place: words, fractions, floats beyond what their type tells apart, cut raw files.
. "$DATA/../cli/lib.sh"
printf '1 2\n3 x4\n' > words
run wte lookup demo --ids words
printf '1 99999999999999999999\n' > large
run wte lookup demo --ids large
head -c 100 /dev/zero > zeros
run wte lookup demo --ids zeros
head -c 7 /dev/zero > seven
run wte lookup demo --ids seven --ids-type u32
printf '\000\000\000\077' | npy half.npy '<f4' False '(1,)'
run wte lookup demo --ids half.npy
printf '\000\000\200\077\002\000\200\113' | npy large.npy '<f4' False '(2,)'
run wte lookup demo --ids large.npy
printf '\000\000\300\177' | npy nan.npy '<f4' False '(1,)'
run wte lookup demo --ids nan.npy
printf '\001' | npy bool.npy '|b1' False '(1,)'
run wte lookup demo --ids bool.npy
printf '\377\377\377\377\377\377\377\377' | npy u8.npy '<u8' False '(1,)'
run wte lookup demo --ids u8.npy
printf '\001\000' | npy cut.npy '<i4' False '(1,)'
run wte lookup demo --ids cut.npy
run wte lookup demo --ids .
run wte lookup demo --ids missing
