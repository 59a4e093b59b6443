# The JSON of a match in another row, and of a vector that nothing explains.
. "$DATA/../cli/lib.sh"
run wte diagnose demo --id 5 --observed -0.4015,0.9666,-1.1481 --json
run wte diagnose demo --id 5 --observed 0.1000,0.2000,0.3000 --json
