# What a type does not hold is no infinity; an infinity that is typed is one.
. "$DATA/../cli/lib.sh"
run wte logits demo --hidden 1,2,1e39
run wte loss demo --hidden 1,2,-1e39 --targets ids
run wte near demo --vector 1,2,3.5e38
run wte near demo '1e39*1'
run wte gradcheck demo 1 2 --op lookup --d-out 1,2,1e39,1,2,3
run wte diagnose demo --id 1 --observed 1,2,1e999
run wte near demo --vector 1,2,-1e400
run wte train text -o out --lr 1e999
run wte bench --seconds -1e999
# the same in a file
python3 -c 'import struct, sys; sys.stdout.buffer.write(struct.pack("<3d", 1, 2, 1e39))' | npy h.npy '<f8' False '(1, 3)'
run wte logits demo --hidden h.npy
# up to the largest f32, and what is meant as infinite
wte diagnose demo --id 1 --observed 1,2,inf > told; echo "exit $?"
wte near demo --vector 1,2,3.4028235e38 --metric cosine | sed -n 2p
