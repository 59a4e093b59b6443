# With -o - the file goes to stdout, byte for byte, and nothing else does.
wte new --rows 6 --dim 3 --seed 7 -o t.npy > told
wte new --rows 6 --dim 3 --seed 7 -o - | cmp - t.npy
wte new --rows 6 --dim 3 --seed 7 -o - --json
echo "exit $?"
