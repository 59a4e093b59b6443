# Shards and parts lie in the folder of the model, links followed, or in the blobs of the hub's cache of which the folder is a
# snapshot. What leads anywhere else is refused: not by name alone, but by where the file lies.
. "$DATA/../cli/lib.sh"
wte new --rows 4 --dim 2 -o w.safetensors > told
printf '{"weight_map": {"embedding.weight": "model-00001-of-00001.safetensors"}}' > index
hub=models--o--n
mkdir -p $hub/blobs $hub/snapshots/r1/sub $hub/refs plain/below other/blobs
cp w.safetensors $hub/blobs/aaa
cp index $hub/blobs/bbb
ln -s ../../blobs/bbb $hub/snapshots/r1/model.safetensors.index.json
ln -s ../../blobs/aaa $hub/snapshots/r1/model-00001-of-00001.safetensors
shape() { run wte lookup "$1" 1 --raw -o ../row; }
echo "== a hub's cache"
shape $hub
shape $hub/snapshots/r1
shape $hub/snapshots/r1/model.safetensors.index.json
ln -s $hub/snapshots/r1 short
shape short
echo "== its blobs on another disk"
mv $hub/blobs elsewhere
ln -s ../elsewhere $hub/blobs
shape $hub
echo "== a folder below the snapshot"
mv $hub/snapshots/r1/model* $hub/snapshots/r1/sub
ln -sfn ../../../blobs/bbb $hub/snapshots/r1/sub/model.safetensors.index.json
ln -sfn ../../../blobs/aaa $hub/snapshots/r1/sub/model-00001-of-00001.safetensors
shape $hub/snapshots/r1/sub
echo "== another model's blobs"
cp w.safetensors other/blobs/aaa
ln -sfn ../../../../other/blobs/aaa $hub/snapshots/r1/sub/model-00001-of-00001.safetensors
shape $hub/snapshots/r1/sub
echo "== in the folder and below it"
cp index plain/model.safetensors.index.json
cp w.safetensors plain/below/x
ln -s below/x plain/model-00001-of-00001.safetensors
shape plain
echo "== out of it"
ln -sfn ../w.safetensors plain/model-00001-of-00001.safetensors
shape plain
ln -sfn "$PWD/w.safetensors" plain/model-00001-of-00001.safetensors
wte lookup plain 1 2> err || echo "exit $?"
grep -c 'out of its folder and of its own blobs' err
echo "== a folder that is a link out"
ln -sfn .. plain/out
printf '{"weight_map": {"embedding.weight": "out/w.safetensors"}}' > plain/model.safetensors.index.json
shape plain
echo "== nothing there"
ln -sfn gone plain/model-00001-of-00001.safetensors
cp index plain/model.safetensors.index.json
shape plain
rm plain/model-00001-of-00001.safetensors
shape plain
echo "== the parts of a GGUF model"
mkdir split
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
for number, name in enumerate(("token_embd.weight", "output.weight")):
    pairs = [("split.no", 2, struct.pack("<H", number)), ("split.count", 2, struct.pack("<H", 2)),
             ("split.tensors.count", 5, struct.pack("<i", 2))]
    gguf(f"split/x-{number + 1:05}-of-00002.gguf", [(name, [4, 6], 0, f32(table(6, 4)))], pairs)
END
shape split
mv split/x-00002-of-00002.gguf split/kept
ln -s kept split/x-00002-of-00002.gguf
shape split
mv split/kept part
ln -sfn ../part split/x-00002-of-00002.gguf
shape split
ln -sfn gone split/x-00002-of-00002.gguf
shape split
