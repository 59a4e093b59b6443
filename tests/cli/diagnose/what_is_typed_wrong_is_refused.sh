# Usage errors are exit 2, unreadable files exit 3.
. "$DATA/../cli/lib.sh"
run wte diagnose demo
run wte diagnose demo --id 5
run wte diagnose demo --id 5 --ids x --got 1,2,3
run wte diagnose demo --ids x --token --got 1,2,3
run wte diagnose demo --id 5 --ids-type u16 --got 1,2,3
run wte diagnose demo --id 6 --got 1,2,3
run wte diagnose demo --id -1 --got 1,2,3
run wte diagnose demo --id five --got 1,2,3
run wte diagnose demo --id 5 --got 1,2,3..4
run wte diagnose demo --id 5 --got 1,2,3-
run wte diagnose demo --id 5 --got absent.npy
run wte diagnose demo --ids absent.txt --got 1,2,3
echo 5 6 > ids.txt
wte lookup demo 5 3 --npy > two.npy
run wte diagnose demo --ids ids.txt --got two.npy
run wte diagnose demo --id 5 --got two.npy
: > none.txt
run wte diagnose demo --ids none.txt --got two.npy
