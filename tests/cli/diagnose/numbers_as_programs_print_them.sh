# A vector is pasted as a program printed it; a word that is neither numbers nor a file is said to be so.
. "$DATA/../cli/lib.sh"
for got in 'tensor([-0.4015,  0.9666, -1.1481], grad_fn=<SelectBackward0>)' \
    'tensor([[-0.4015,  0.9666, -1.1481]])' 'array([-0.4015,  0.9666, -1.1481], dtype=float32)' \
    '[-4.015e-01, 9.666E-01, -1.1481]'; do
    echo "$got"
    wte diagnose demo --id 5 --observed "$got" | head -1
done
wte diagnose demo --id 5 --observed '[1, "NaN", "-Infinity"]'
run wte diagnose demo --id 5 --observed 1,2,x
run wte diagnose demo --id 5 --observed 'tensor([1, ..., 3])'
run wte diagnose demo --id 5 --observed nan
