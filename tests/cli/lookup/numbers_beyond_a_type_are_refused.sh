# --dtype to a type that cannot hold a number: refused with what would be lost, or converted when that was asked for.
. "$DATA/../cli/lib.sh"
printf '1 1e5 2\n0.5 -1e39 4\nnan inf 300\n' > t.txt
run wte lookup t.txt 0 1 2 --columns 1-3 --keys none --dtype f16
run wte lookup t.txt 0 --columns 1-3 --keys none --dtype f16 --npy -o gone.npy
ls gone.npy 2>/dev/null
run wte lookup t.txt 0 --columns 1-3 --keys none --dtype bf16
run wte lookup t.txt 0 2 --columns 1-3 --keys none --dtype f16 --allow-overflow
run wte lookup t.txt 2 --columns 1-3 --keys none --dtype i8
run wte lookup t.txt 2 --columns 1-3 --keys none --dtype i8 --allow-overflow
run wte lookup t.txt 2 --columns 1-3 --keys none --dtype f8_e4m3
run wte lookup t.txt 2 --columns 1-3 --keys none --dtype f64
run wte lookup t.txt 2 --columns 1-3 --keys none --allow-overflow
run wte new --rows 3 --dim 2 --std 1e6 --dtype f16 -o n.safetensors
run wte new --rows 3 --dim 2 --std 1e300 -o n.safetensors
run wte new --rows 3 --dim 2 --init uniform --low -1e5 --high 1e5 --dtype f16 -o n.safetensors
