# --bad-ids zero counts and reports; --ignore-id is silent. Neither wraps around nor gives row 0.
. "$DATA/../cli/lib.sh"
run wte lookup demo 3 6 -1 --bad-ids zero
run wte lookup demo -- 3 -1 -100 --ignore-id
run wte lookup demo --ignore-id -1 --ignore-id=-100 3 -1 -100
run wte lookup demo --ignore-id 3 3 4
wte lookup demo -q 6 5 --bad-ids zero --raw | od -An -v -tx4 -w12
run wte lookup demo 3 6 --bad-ids zero --ignore-id 3 --json
