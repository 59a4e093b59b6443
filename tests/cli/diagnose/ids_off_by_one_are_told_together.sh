# Ids counted from one: every vector is the row before.
. "$DATA/../cli/lib.sh"
echo 2 3 5 1 > ids.txt
wte lookup demo 1 2 4 0 --npy > got.npy
run wte diagnose demo --ids ids.txt --observed got.npy
wte lookup demo 2 3 3 1 --npy > got.npy
run wte diagnose demo --ids ids.txt --observed got.npy
