# The target stays as it was when the folder takes no more, and no temporary file remains.
wte new --rows 2 --dim 2 -o t.npy > told
cp t.npy old.npy
(
    ulimit -f 1
    trap '' XFSZ
    wte new --rows 1000 --dim 2 -o t.npy
    echo "exit $?"
)
cmp t.npy old.npy
wte new --rows 2 --dim 2 -o none/t.npy
echo "exit $?"
mkdir t.safetensors
wte new --rows 2 --dim 2 -o t.safetensors
echo "exit $?"
ls -A
