# Also under another name: a link, a hard link, a file of the model's folder, one that would be read as a part of it.
. "$DATA/../cli/lib.sh"
mkdir m
wte new --rows 3 --dim 2 -o m/model.safetensors -q > /dev/null
printf '%s\n' a b c > m/vocab.txt
echo '{"vocab_size": 3, "hidden_size": 2}' > m/config.json
echo 1 > ids
ln m/model.safetensors hard
ln -s m/vocab.txt soft
cat m/* ids | cksum > before
run wte lookup m 0 --npy -o m/model.safetensors 2>&1
run wte lookup m 0 --npy -o hard 2>&1
run wte lookup m/model.safetensors 0 -o soft 2>&1
run wte lookup m 0 -o m/tokenizer.json 2>&1
run wte lookup m --ids ids -o ./ids 2>&1
run wte lookup m --ids - -o ids < ids 2>&1
run wte check m --write-baseline m/config.json 2>&1
run wte loss m --hidden 1,2 --targets ids --d-hidden g.npy --d-table ./g.npy 2>&1
run wte lookup m 0 --npy -o rows.npy > rows.npy
cat m/* ids | cksum | cmp - before
# A name that is no part of the model may be used, once.
run wte lookup m 0 --npy -o m/row.npy 2>&1
run wte lookup m 0 --npy -o m/row.npy 2>&1
ls -A . m
