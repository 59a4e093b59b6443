# An adapter whose table has two rows more than its base: rows, new tokens, and the tie that merging would break.
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


rows = [(i * 7 % 11) - 4.5 for i in range(24)]
write("base/model.safetensors", [("model.embed_tokens.weight", [10, 2], rows[:20])])
write("adapter/adapter_model.safetensors", [("base_model.model.model.embed_tokens.weight", [12, 2], rows),
                                            ("base_model.model.lm_head.weight", [12, 2], rows[:23] + [3])])
PYTHON
printf '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": 10, "hidden_size": 2, "tie_word_embeddings": true}' > base/config.json
printf '{"peft_type": "LORA", "r": 8, "base_model_name_or_path": "org/base"}' > adapter/adapter_config.json
seq -f t%g 0 9 > base/vocab.txt
{ seq -f t%g 0 9; echo '<call>'; echo '</call>'; } > adapter/vocab.txt
codes=adapter-rows,adapter-unties,adapter-saves,adapter-base-differs
run wte check base --adapter adapter --only "$codes"
wte check base --adapter adapter --only adapter-rows --json | sed -n '/"sizes"/,$p'
run wte check base --adapter base
run wte check base --adapter nowhere
run wte check base --adapter ''
