# What is told when nothing else is asked; threads change nothing.
. "$DATA/../cli/lib.sh"
run wte eval demo
run wte eval demo --json --pairs 1000 --seed -1
wte eval "$DATA/static-f32" --threads 1 > one.txt
wte eval "$DATA/static-f32" --threads 3 > three.txt
run cmp one.txt three.txt
wte new --rows 3 --dim 2 --init zeros -o zeros.npy 2> /dev/null
run wte eval zeros.npy
