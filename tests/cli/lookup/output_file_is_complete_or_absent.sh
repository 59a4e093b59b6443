# -o writes beside the target and renames; a failed write keeps the old file and leaves nothing else.
. "$DATA/../cli/lib.sh"
echo old > out
wte lookup demo 3 --raw -o out
od -An -v -tx4 out
wte lookup demo 3 -o out
cat out
seq 0 5 | head -1000 > ids
for i in 1 2 3 4 5 6 7 8; do cat ids ids > more && mv more ids; done
(
    ulimit -f 2
    trap '' XFSZ
    run wte lookup demo --ids ids --raw -o out
)
cat out
run wte lookup demo 3 --raw -o none/out
ls -A
