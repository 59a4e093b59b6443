# Shares of the limit are compared: 0.83 / 0.8 is a tie, 0.6 / 0.8 = 0.75 is slower, 0.9 / 0.8 = 1.125 faster, 0.47 / 0.5
# = 0.94 slower, but within the tolerance. A limit that has changed is the machine's doing. 0.3 against 0.6
# says nothing where the quarters of the two runs overlap.
. "$DATA/../cli/lib.sh"
HERE=$DATA/../cli/bench
run wte bench --compare "$HERE/old.json" --results "$HERE/new.json"
run wte bench --compare "$HERE/old.json" --results "$HERE/new.json" --tolerance 0.3 | tail -2
run wte bench --compare "$HERE/old.json" --results "$HERE/new.json" --json | tail -12
run wte bench --compare "$HERE/old.json" --results "$HERE/old.json" | tail -2
run wte bench --compare - --results "$HERE/old.json" < "$HERE/new.json" | tail -2
# files that no run has written
echo '{}' > other.json
run wte bench --compare other.json --results "$HERE/new.json"
run wte bench --compare absent.json --results "$HERE/new.json"
for bytes in 30 60 200 700; do
    head -c $bytes "$HERE/old.json" > cut.json
    run wte bench --compare cut.json --results "$HERE/new.json"
done
printf '{"schema": "wte.bench/1", "results": [{"name": "x", "threads": 1, "seconds": 0}]}' > zero.json
run wte bench --compare zero.json --results "$HERE/new.json"
