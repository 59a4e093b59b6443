# A baseline is written only where it is asked for; what it accepts is counted and neither shown nor a failure.
. "$DATA/../cli/lib.sh"
wte new --rows 3 --dim 2 --init zeros -o t.npy > told
{ head -c 128 t.npy; printf '\0\0\200\077\0\0\0\100'; printf '\0\0\0\0\0\0\0\0'; printf '\0\0\300\177\0\0\200\077'; } > table.npy
run wte check table.npy --quiet --write-baseline known
cat known
run wte check table.npy --quiet --baseline known
echo 'rows-zero	array' > some
run wte check table.npy --quiet --fail-on warn --baseline some
printf '# nothing\n\n' > none
run wte check table.npy --quiet --only rows-nonfinite --baseline none
