# A mapped file that is cut shows zeros up to the end of its last page, without a signal. The command looks at the size again
# before it ends and before it writes a file. It opens the ids after the model, so once the pipe has a reader the model is mapped.
wte new --rows 8 --dim 4 -o t.safetensors > told
size=$(stat -c %s t.safetensors)
cut_while() {
    truncate -s "$size" t.safetensors
    wte new --rows 8 --dim 4 -o t.safetensors > told
    rm -f ids
    mkfifo ids
    "$@" > out 2> err &
    exec 3> ids
    truncate -s $((size - 32)) t.safetensors
    echo 7 >&3
    exec 3>&-
    code=0
    wait $! || code=$?
    cat err
    echo "exit $code"
}
cut_while wte lookup t.safetensors --ids ids
cut_while wte lookup t.safetensors --ids ids --npy -o out.npy
ls out.npy 2> gone || echo "no file is written"
cut_while wte lookup t.safetensors --ids ids --json
cut_while wte logits t.safetensors --raw --hidden 1,2,3,4 --ids ids
cut_while wte logits t.safetensors --raw --hidden 1,2,3,4 --ids ids -o out.npy
ls out.npy 2> gone || echo "no file is written"
