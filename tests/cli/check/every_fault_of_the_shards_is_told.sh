# A model whose index and shards disagree does not open; check tells all that is wrong, not the first fault alone.
. "$DATA/../cli/lib.sh"
python3 - <<'END'
import json
import os
import struct


def shard(path, names):
    data, header = b"", {}
    for name in names:
        header[name] = {"dtype": "F32", "shape": [2, 2], "data_offsets": [len(data), len(data) + 16]}
        data += struct.pack("<4f", 1, 2, 3, len(data))
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + data)


def model(folder, index, shards):
    os.mkdir(folder)
    for name, tensors in shards.items():
        shard(f"{folder}/{name}", tensors)
    json.dump({"weight_map": index}, open(f"{folder}/model.safetensors.index.json", "w"))


model("many", {"a": "1.safetensors", "b": "2.safetensors", "c": "3.safetensors", "c2": "3.safetensors", "d": "1.safetensors",
               "e": "2.safetensors", "f": "1.safetensors", "h": "4.safetensors"},
      {"1.safetensors": ["a", "f"], "2.safetensors": ["b", "d", "f", "g"], "4.safetensors": ["h"]})
whole = open("many/4.safetensors", "rb").read()
open("many/4.safetensors", "wb").write(whole[:-8])
model("lacks", {"a": "1.safetensors", "b": "1.safetensors"}, {"1.safetensors": ["a"]})
model("fine", {"a": "1.safetensors"}, {"1.safetensors": ["a", "b"]})
END
run wte check many
run wte check many --json
run wte check lacks -q
run wte inspect lacks
run wte check fine --only index-stray-tensor
echo '{' > broken.safetensors
run wte check broken.safetensors
run wte check broken.safetensors --json
run wte check absent --json
