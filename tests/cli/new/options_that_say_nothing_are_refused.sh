# An option that would be ignored, or whose zero would mean a default, is a usage error.
for options in "--std 0" "--std -1" "--low 1" "--low 2 --high 1 --init uniform" "--low 0 --high 0 --init uniform" \
    "--init zeros --seed 1" "--init uniform --std 1" "--dtype f99" "--init normal" "--std 1,5" "--seed 1 --seed 2"; do
    wte new --rows 6 --dim 3 -o t.npy $options
    echo "$options: exit $?"
done
wte new --dim 3 -o t.npy
echo "exit $?"
wte new --rows 6 --dim 3
echo "exit $?"
wte new --rows 6 --dim 3 -o t.bin
echo "exit $?"
wte new --rows 6 --dim 3 -o t.npy more
echo "exit $?"
ls
