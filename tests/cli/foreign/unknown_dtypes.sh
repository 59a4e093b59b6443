# A safetensors tensor of an unknown dtype (or of a known one of 6 bits) closes itself alone, in one file, in shards and as the table.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
whole = table(4, 3)
new = ("F3_E1", [4, 8], bytes(12))
model("one", {EMBED: tensor(whole), "model.layers.0.mlp.weight": new, HEAD: tensor(whole[::-1])}, llama(4, 3, False))
model("table", {EMBED: ("F3_E1", [4, 4], bytes(12)), "model.norm.weight": ("F32", [3], f32([[1, 2, 3]]))}, llama(4, 4))
for name, kind in (("head", "F3_E1"), ("known", "F6_E3M2")):
    model(name, {EMBED: tensor(whole), HEAD: (kind, [4, 4], bytes(12))}, llama(4, 3, False))
pathlib.Path("shards").mkdir()
safetensors("shards/a.safetensors", {EMBED: tensor(whole)})
safetensors("shards/b.safetensors", {"model.layers.0.mlp.weight": new})
weights = {EMBED: "a.safetensors", "model.layers.0.mlp.weight": "b.safetensors"}
pathlib.Path("shards/model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))
END
for m in one shards; do run wte lookup -q $m 3; done
run wte lookup one 3 --tensor model.layers.0.mlp.weight
wte inspect one --all | grep mlp
wte inspect one --all --json | grep -A1 mlp
run wte lookup table 3
run wte check table
run wte tied head
run wte tied known
run wte check head
run wte lookup -q head 3
run wte diff -q one shards
