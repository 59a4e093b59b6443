# Names from files and from the command line never reach a terminal as they are.
. "$DATA/../cli/lib.sh"
wte new --rows 2 --dim 2 --name "$(printf 'a\033[31m\tb')" -o t.safetensors
mv t.safetensors "$(printf 'x\033y.safetensors')"
run wte lookup "$(printf 'x\033y.safetensors')" 1 > printed
sed 1d printed
run wte lookup "$(printf 'x\033y.safetensors')" 1 --json | sed 1d
run wte lookup "$(printf 'no\033file')" 1 2>&1 | sed 1d
