# A file beside the weights that is there but cannot be read is an error, never a model without it. Root may read
# everything, so it is links in a circle or to nothing, folders and pipes that stand for files without permission. A pipe
# must not be waited for.
. "$DATA/../cli/lib.sh"
wte new --rows 4 --dim 3 -o w.safetensors > told
make() {
    case $2 in
    folder) mkdir "m/$1" ;;
    pipe) mkfifo "m/$1" ;;
    circle) ln -s "$1" "m/$1" ;;
    nothing) ln -s gone "m/$1" ;;
    esac
}
fresh() {
    rm -rf m
    mkdir m
    cp w.safetensors m/model.safetensors
}
for name in config.json params.json modules.json quantize_config.json model.safetensors.index.json; do
    for kind in folder pipe circle nothing; do
        fresh
        make $name $kind
        echo "== $name: $kind"
        run wte lookup m 1
    done
done
# a tokenizer does not stop a lookup by ids; check and whoever needs it tell
for name in tokenizer.json vocab.json vocab.txt tokenizer.model spiece.model; do
    for kind in folder pipe circle nothing; do
        fresh
        make $name $kind
        echo "== $name: $kind"
        code=0
        wte check m --only vocab-unreadable,vocab-absent > out || code=$?
        grep -c '^error vocab-unreadable' out
        echo "exit $code"
    done
done
fresh
printf '{"a": 0}' > m/vocab.json
make added_tokens.json circle
run wte lookup m a
# through a link in a circle nothing can be looked at
fresh
ln -s loop loop
run wte lookup loop/m 1
run wte check loop
# an adapter's config, and the folder of a static model
rm -rf m
mkdir m
cp w.safetensors m/adapter_model.safetensors
make adapter_config.json circle
run wte inspect m/adapter_model.safetensors
rm -rf m
mkdir -p m/0_StaticEmbedding
cp w.safetensors m/x.npy
make 0_StaticEmbedding/model.safetensors pipe
run wte inspect m
