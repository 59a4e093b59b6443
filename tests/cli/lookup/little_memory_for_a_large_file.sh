# Three rows of a file of 2 GiB need less than 16 MiB of memory of their own.
if ! wte version --json | grep -q '"sanitizer": null'; then
    echo "a sanitizer takes memory of its own"
    exit 77
fi
{
    printf '\200\000\000\000\000\000\000\000'
    printf '%-128s' '{"wte.weight":{"dtype":"F32","shape":[131072,4096],"data_offsets":[0,2147483648]}}'
} > big.safetensors
truncate -s 2147483784 big.safetensors
ulimit -d 16384
wte lookup big.safetensors 0 70000 131071
