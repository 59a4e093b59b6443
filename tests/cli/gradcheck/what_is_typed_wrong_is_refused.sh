. "$DATA/../cli/lib.sh"
echo 1 9 > ids.txt
wte new --rows 3 --dim 2 -o t.npy 2> /dev/null
seq 300 | sed 's/.*/1/' > many.txt
run wte gradcheck
run wte gradcheck t.npy
run wte gradcheck demo 6
run wte gradcheck demo king
run wte gradcheck demo 1 --ids ids.txt
run wte gradcheck demo --ids ids.txt
run wte gradcheck demo --ids many.txt
run wte gradcheck demo 1 --op tides
run wte gradcheck demo 1 --d-out 1,2,3
run wte gradcheck demo 1 --op lookup --d-out 1,2
run wte gradcheck demo 1 --op lookup --d-out '[[1,2,3],[1,2,3]]'
run wte gradcheck demo 1 --op lookup --targets 2
run wte gradcheck demo 1 --targets 2,3
run wte gradcheck demo 1 --targets 9
run wte gradcheck demo 1 --targets 1--2
run wte gradcheck demo 1 --targets none.txt
run wte gradcheck demo 1 --op head --bag 2
run wte gradcheck demo 1 --bag 0
run wte gradcheck demo 1 --max-columns 0
run wte gradcheck demo 1 --tolerance 0
run wte gradcheck none.npy 1
run wte gradcheck demo --head demo
run wte gradcheck demo --token
run wte gradcheck demo 1 --ids-type u16
run wte gradcheck demo 1 2 --op head --padding-id 1
run wte gradcheck demo 1 2 --padding-id 6
run wte gradcheck demo 1 2 --op tied --padding-id -1
