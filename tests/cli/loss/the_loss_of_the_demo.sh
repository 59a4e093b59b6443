# Rows of the demo as hidden vectors. -ln softmax at the target: checked against PyTorch in oracle.loss.
. "$DATA/../cli/lib.sh"
wte lookup demo 3 2 1 --npy > h.npy
printf '3\n2\n-100\n' > targets
run wte loss demo --hidden h.npy --targets targets
run wte loss demo --hidden h.npy --targets targets --each --sum
run wte loss demo --hidden h.npy --targets targets --label-smoothing 0.1 --z-loss 0.001 --each
run wte loss demo --hidden h.npy --targets targets --json --each
printf '3 -1 0\n' > targets
run wte loss demo --hidden h.npy --targets targets --ignore-id -1
printf '%s\n' '-100 -100 -100' > targets
run wte loss demo --hidden h.npy --targets targets
