# Options that contradict one another, or say nothing, are usage errors.
. "$DATA/../cli/lib.sh"
echo 1 > ids
run wte lookup demo 1 --json --raw
run wte lookup demo 1 --npy --raw
run wte lookup demo 1 --full --raw
run wte lookup demo 1 --ids ids
run wte lookup demo
run wte lookup
run wte lookup demo 1 --ids-type u16
run wte lookup demo 1 --bad-ids wrap
run wte lookup demo 1 --threads 0
run wte lookup demo 1 --tensor wte.weight
run wte lookup "" 1
run wte lookup demo --ids ""
run wte lookup demo ""
