# Typed to four decimals, and bit for bit from a file; as one vector and as a matrix.
. "$DATA/../cli/lib.sh"
run wte diagnose demo --id 5 --observed -2.8400,-0.7849,-1.4096
wte lookup demo 5 --npy > five.npy
run wte diagnose demo --id 5 --observed five.npy
wte lookup demo 2 3 5 1 --npy > four.npy
echo 2 3 5 1 > ids.txt
run wte diagnose demo --ids ids.txt --observed four.npy
