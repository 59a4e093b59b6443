# A tensor that lies in a shard but not in the index is no part of the model, and is not passed over in silence.
. "$DATA/../cli/lib.sh"
python3 - << 'END'
import json, struct
def write(path, names):
    header = {n: {"dtype": "F32", "shape": [4, 2], "data_offsets": [32 * i, 32 * i + 32]} for i, n in enumerate(names)}
    text = json.dumps(header).encode()
    open(path, "wb").write(struct.pack("<Q", len(text)) + text + bytes(32 * len(names)))
one, two = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
write(one, ["model.embed_tokens.weight"])
write(two, ["a.weight", "lm_head.weight", "b.weight", "c.weight", "d.weight"])
index = {"weight_map": {"model.embed_tokens.weight": one, "a.weight": two}}
json.dump(index, open("model.safetensors.index.json", "w"))
json.dump({"model_type": "llama", "architectures": ["LlamaForCausalLM"]}, open("config.json", "w"))
END
wte inspect . | grep -A 1 head
wte inspect . --all | grep strays
wte inspect . --json | grep stray
wte tied . | head -5
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:46\nsize 97\n' > model-00002-of-00002.safetensors
run wte inspect .
