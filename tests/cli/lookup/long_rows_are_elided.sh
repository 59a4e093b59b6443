# More than eight numbers or a hundred rows are cut in the middle, unless --full is given.
wte new --rows 200 --dim 12 --seed 1 -o t.npy > told
wte lookup t.npy 0 1
wte lookup t.npy 0 1 --full
seq 0 100 | wte lookup t.npy --ids -
seq 0 150 | wte lookup t.npy --ids - --full | wc -l
seq 0 99 | wte lookup t.npy --ids - | wc -l
