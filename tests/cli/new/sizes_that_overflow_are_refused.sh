# Sizes beyond 64 bits, and beyond the limit, end at once with exit 4 and leave no file.
wte new --rows 4294967296 --dim 4294967296 -o t.npy
echo "exit $?"
wte new --rows 18446744073709551615 --dim 18446744073709551615 -o t.safetensors
echo "exit $?"
wte new --rows 1099511627776 --dim 8 -o t.npy
echo "exit $?"
ls
