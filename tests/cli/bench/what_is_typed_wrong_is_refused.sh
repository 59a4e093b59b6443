. "$DATA/../cli/lib.sh"
run wte bench demo
run wte bench --only nothing-of-the-kind
run wte bench --seconds -1
run wte bench --memory 15
run wte bench --tolerance 0.2
run wte bench --compare old.json --tolerance 1
run wte bench --results new.json
run wte bench --list --json
run wte bench --compare old.json --results new.json --quick
run wte bench --compare - --results -
