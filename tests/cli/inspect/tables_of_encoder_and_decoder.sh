# Every candidate with its shape, the hash of its bytes, and which bytes are the same; an adapter says what it changes.
. "$DATA/../cli/lib.sh"
python3 - <<'PYTHON'
import json, os, struct


def write(path, tensors):
    header, data = {}, b""
    for name, shape, numbers in tensors:
        part = struct.pack("<%df" % len(numbers), *numbers)
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    text = json.dumps(header).encode()
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + data)


P, Q = list(range(8)), list(range(1, 9))
write("t5/model.safetensors", [("shared.weight", [4, 2], P), ("encoder.embed_tokens.weight", [4, 2], P),
                               ("decoder.embed_tokens.weight", [4, 2], Q), ("lm_head.weight", [4, 2], Q)])
write("adapter/adapter_model.safetensors", [("base_model.model.model.embed_tokens.lora_embedding_A", [2, 4], P),
                                            ("base_model.model.model.embed_tokens.lora_embedding_B", [3, 2], P[:6])])
PYTHON
printf '{"model_type": "t5", "vocab_size": 4, "d_model": 2, "tie_word_embeddings": false}' > t5/config.json
printf '{"peft_type": "LORA", "r": 2, "base_model_name_or_path": "org/base"}' > adapter/adapter_config.json
run wte inspect t5 --candidates
wte inspect t5 --json --candidates | grep -A 8 '"tensor": "lm_head'
run wte inspect adapter
mkdir snapshots blobs
mv t5/model.safetensors blobs/0a1b
mv t5 snapshots/c2d3
ln -s ../../blobs/0a1b snapshots/c2d3/model.safetensors
wte inspect . | sed -n '1,3p'
rm blobs/0a1b
run wte inspect .
