# Names from files and paths never reach a terminal as they are.
. "$DATA/../cli/lib.sh"
wte new --rows 2 --dim 2 --name "$(printf 'a\033[31m\tb')" -o t.safetensors
mv t.safetensors "$(printf 'x\033y.safetensors')"
run wte trace "$(printf 'x\033y.safetensors')" 1 > printed
run wte diagnose "$(printf 'x\033y.safetensors')" --id 1 --observed 1,2 >> printed
wte trace "$(printf 'x\033y.safetensors')" 1 --json >> printed
sed 1d printed | grep -v '^\$' | tail -n +1
grep -v '^\$' printed | LC_ALL=C tr -d '\n -~' | od -An -c
