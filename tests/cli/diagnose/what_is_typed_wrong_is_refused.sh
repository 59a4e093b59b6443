# Usage errors are exit 2, unreadable files exit 3.
. "$DATA/../cli/lib.sh"
run wte diagnose demo
run wte diagnose demo --id 5
run wte diagnose demo --id 5 --ids x --observed 1,2,3
run wte diagnose demo --ids x --token --observed 1,2,3
run wte diagnose demo --id 5 --ids-type u16 --observed 1,2,3
run wte diagnose demo --id 6 --observed 1,2,3
run wte diagnose demo --id -1 --observed 1,2,3
run wte diagnose demo --id five --observed 1,2,3
run wte diagnose demo --id 5 --observed 1,2,3..4
run wte diagnose demo --id 5 --observed 1,2,3-
run wte diagnose demo --id 5 --observed absent.npy
run wte diagnose demo --ids absent.txt --observed 1,2,3
echo 5 6 > ids.txt
wte lookup demo 5 3 --npy > two.npy
run wte diagnose demo --ids ids.txt --observed two.npy
run wte diagnose demo --id 5 --observed two.npy
: > none.txt
run wte diagnose demo --ids none.txt --observed two.npy
