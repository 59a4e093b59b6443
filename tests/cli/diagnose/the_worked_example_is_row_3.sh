# The vector of row 3 came back for id 5: typed in every way, the answer is the same, and exit 1.
. "$DATA/../cli/lib.sh"
run wte diagnose demo --id 5 --observed -0.4015,0.9666,-1.1481
for got in -0.4015,0.9666,-1.1481 '-0.4015 0.9666 -1.1481' '[[-0.4015,  0.9666, -1.1481]]' '-4.015e-1,+.9666,-1.1481'; do
    wte diagnose demo --id 5 --observed="$got" | head -1
    wte diagnose demo --observed "$got" --id 5 > told || echo "exit $?"
done
