# An index against its shards, both ways: a tensor elsewhere, a tensor nowhere, a shard missing, strays, stored twice.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
import shutil
first, second = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
NORM = "model.norm.weight"

def index(name, weights):
    (pathlib.Path(name) / "model.safetensors.index.json").write_text(json.dumps({"metadata": {}, "weight_map": weights}))

whole = pathlib.Path("whole")
whole.mkdir()
safetensors(whole / first, {EMBED: tensor(table(6, 4)), NORM: tensor(table(1, 4))})
safetensors(whole / second, {HEAD: tensor(trained(6, 4))})
(whole / "config.json").write_text(json.dumps(llama(6, 4, tied=False)))
tokenizer(whole, words(6))
right = {EMBED: first, NORM: first, HEAD: second}
index(whole, right)
for name in ("swapped", "nowhere", "missing", "unlisted", "twice"):
    shutil.copytree(whole, name)
index("swapped", right | {EMBED: second})
index("nowhere", right | {"ghost": second, "other": first})
index("missing", right | {HEAD: "model-00003-of-00003.safetensors"})
index("unlisted", {EMBED: first, HEAD: second})
safetensors("twice/" + second, {HEAD: tensor(trained(6, 4)), EMBED: tensor(trained(6, 4, 2))})
safetensors("twice/consolidated.safetensors", {EMBED: tensor(table(6, 4))})
END
for m in whole swapped nowhere missing unlisted twice; do run wte check $m; done
