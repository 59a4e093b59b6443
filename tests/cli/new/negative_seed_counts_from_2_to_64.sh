# torch takes a negative seed as 2^64 + seed.
wte new --rows 5 --dim 4 --seed -1 -o a.npy
wte new --rows 5 --dim 4 --seed=18446744073709551615 -o b.npy
cmp a.npy b.npy
wte new --rows 5 --dim 4 --seed 18446744073709551616 -o c.npy
echo "exit $?"
