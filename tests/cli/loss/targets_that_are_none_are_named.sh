. "$DATA/../cli/lib.sh"
python3 "$DATA/../cli/logits/make_models.py"
wte lookup demo 3 2 1 --npy > h.npy
printf '3\n2\n' > targets
run wte loss demo --hidden h.npy --targets targets
printf '3\n6\n-1\n' > targets
run wte loss demo --hidden h.npy --targets targets
run wte loss demo --hidden h.npy --targets absent
printf '0\n11\n0\n' > targets
run wte loss padded --hidden h.npy --targets targets
wte loss padded --hidden h.npy --targets targets --with-padding | tail -4 | head -1
run wte loss gemma2 --hidden h.npy --targets targets
run wte loss lost --hidden 2,0 --targets targets
run wte loss baichuan --hidden 2,0 --targets targets
