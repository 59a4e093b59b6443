# A number stands for all that are written so: few digits fit more rows, and name no change.
. "$DATA/../cli/lib.sh"
for got in 0.34,-0.18,-0.17 0.337,-0.178,-0.169 0.338,-0.178,-0.169 0,0,0 1,0,0 -3,-1,-1; do
    echo "--observed $got"
    wte diagnose demo --id 0 --observed "$got" > told || echo "exit $?"
    grep -v 'next\|check id\|  id  ' told
done
