# --padding-id zeroes one row after the draw: the others are as without it.
wte new --rows 4 --dim 2 --seed 3 -o a.npy > told
wte new --rows 4 --dim 2 --seed 3 --padding-id 2 -o b.npy
tail -c 32 a.npy | od -An -v -tx4 -w8 > a
tail -c 32 b.npy | od -An -v -tx4 -w8 > b
sed '3s/.*/ 00000000 00000000/' a | cmp - b
wte new --rows 4 --dim 2 --padding-id 4 -o b.npy
echo "exit $?"
