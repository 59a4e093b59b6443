# Every gradient of the demo table, with and without a padding id; a tolerance that f32 cannot keep; JSON.
. "$DATA/../cli/lib.sh"
run wte gradcheck demo
run wte gradcheck demo 2 3 2 5 1 --padding-id 2 --op tied --targets 3,2,-100,1,2
run wte gradcheck demo 2 3 --op bag --bag 1 --d-out '[[1,2,3],[4,5,6],[0,0,0]]'
run wte gradcheck demo 3 1 --op loss --tolerance 1e-12
run wte gradcheck demo 5 --op lookup --d-out 1,-2,3 --json
