# Typed, or from a file with one row for each.
. "$DATA/../cli/lib.sh"
run wte near demo --vector -0.4015,0.9666,-1.1481 --top 2
wte lookup demo 2 5 --npy > two.npy
run wte near demo --vector two.npy --top 1
run wte near demo --vector two.npy --top 1 --json
run wte near demo --vector 1,2
run wte near demo --vector 0,0,0
run wte near demo --vector 1,two,3
run wte near demo --vector 1,2,x.
npy zeros.npy '<f4' False '(1, 3)' < /dev/null
head -c 12 /dev/zero >> zeros.npy
run wte near demo --vector zeros.npy
