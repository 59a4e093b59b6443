. "$DATA/../cli/lib.sh"
printf '3\n' > targets
run wte loss demo
run wte loss demo --hidden 1,0,0
run wte loss demo --hidden - --targets -
run wte loss demo --hidden 1,0,0 --targets ''
run wte loss demo --hidden 1,0,0 --targets targets --label-smoothing 2
run wte loss demo --hidden 1,0,0 --targets targets --z-loss -1
run wte loss demo --hidden 1,0,0 --targets targets --json --d-hidden -
run wte loss demo --hidden 1,0,0 --targets targets --d-hidden g.npy --d-table g.npy
run wte loss demo --hidden 1,0,0 --targets targets --raw --as-model
run wte loss demo --hidden 1,0,0,0 --targets targets
run wte loss demo --hidden 1,0,0 --targets targets --d-table absent/g.npy
# gradients of three gigabytes are not made by mistake
wte new --rows 200000 --dim 2000 --init zeros --dtype u8 -o t.npy > told
head -c 2000 /dev/zero | npy h.npy '|u1' False '(1, 2000)'
run wte loss t.npy --hidden h.npy --targets targets --d-table g.npy
