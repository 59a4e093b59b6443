# They are bad ids like any other: refused with their value, or counted and zero; never taken for the negative number of the same bits.
. "$DATA/../cli/lib.sh"
printf '\003\000\000\000\000\000\000\000\234\377\377\377\377\377\377\377\000\000\000\000\000\000\000\200' | npy u8.npy '<u8' False '(3,)'
exec 2>&1
run wte lookup demo --ids u8.npy
run wte lookup demo --ids u8.npy --bad-ids zero --ignore-id=-100
run wte lookup demo --ids u8.npy --bad-ids zero --json
wte lookup demo -q --ids u8.npy --bad-ids zero --raw | od -An -v -tx4 -w12
printf '\377\377\377\377\377\377\377\377\000\000\000\000\000\000\000\003' | npy big.npy '>u8' False '(2,)'
run wte lookup demo --ids big.npy --bad-ids zero
printf '\377\377\377\377\377\377\377\377\003\000\000\000\000\000\000\000' | npy columns.npy '<u8' True '(1, 2)'
run wte lookup demo --ids columns.npy --bad-ids zero
run wte diagnose demo --ids u8.npy --observed 1,2,3
