# When a file holds no table, the message says what it holds instead.
. "$DATA/../cli/lib.sh"
head -c 32 /dev/zero | npy cube.npy '<f4' False '(2, 2, 2)'
run wte lookup cube.npy 0
head -c 8 /dev/zero | npy list.npy '<f4' False '(2,)'
run wte lookup list.npy 0
run wte lookup list.npy 1 --tensor array
printf 'Entry not found' > model.safetensors
run wte lookup model.safetensors 0
