"""Write small models into folders: one for each family whose head does more than multiply (rows [1, 0] and [3, 4]), and
some of three columns with padding, holes, a bias, or a head that is lost."""
import json
import os
import struct

TWO = [[1, 0], [3, 4]]
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight"]
# 12 rows for 9 tokens; the last is 10 times row 0, so that it would win wherever row 0 does
PADDED = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1], [0.5, 0.5, 0.5]]
PADDED += [[0, 0, 0], [0, 0, 0], [10, 0, 0]]


def save(folder, config, tensors, words=()):
    os.makedirs(folder)
    entries, data = {}, b""
    for name, rows in tensors.items():
        flat = [x for row in rows for x in row] if isinstance(rows[0], list) else rows
        shape = [len(rows), len(rows[0])] if isinstance(rows[0], list) else [len(rows)]
        packed = struct.pack(f"<{len(flat)}f", *flat)
        entries[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    head = json.dumps(entries).encode()
    head += b" " * (-len(head) % 8)
    with open(f"{folder}/model.safetensors", "wb") as f:
        f.write(struct.pack("<Q", len(head)) + head + data)
    with open(f"{folder}/config.json", "w", encoding="utf-8") as f:
        json.dump(config, f)
    if words:
        with open(f"{folder}/vocab.json", "w", encoding="utf-8") as f:
            json.dump({word: i for i, word in enumerate(words) if word}, f)


def causal(family, **facts):
    return {"model_type": family, "architectures": [f"{family.capitalize()}ForCausalLM"], "hidden_size": 2, "vocab_size": 2,
            **facts}


def main():
    tied, untied = {"model.embed_tokens.weight": TWO}, {"model.embed_tokens.weight": TWO, "lm_head.weight": TWO}
    save("gemma2", causal("gemma2", final_logit_softcapping=30.0), tied)
    save("cohere", causal("cohere", logit_scale=0.0625), tied)
    save("granite", causal("granite", logits_scaling=8.0, tie_word_embeddings=True), tied)
    save("minicpm", causal("minicpm", dim_model_base=1, tie_word_embeddings=True), tied)
    save("phi", causal("phi"), {**untied, "lm_head.bias": [0.5, -1]})
    save("baichuan", causal("baichuan", vocab_size=125696), untied)
    t5 = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "d_model": 2, "vocab_size": 2}
    save("t5", t5, {"shared.weight": TWO})
    save("t5-untied", {**t5, "tie_word_embeddings": False}, {"shared.weight": TWO, "lm_head.weight": TWO})
    wide = {**causal("gpt2", vocab_size=12), "hidden_size": 3}
    save("padded", wide, {"wte.weight": PADDED}, WORDS)
    save("holes", wide, {"wte.weight": PADDED}, WORDS[:3] + [None] + WORDS[4:])
    save("lost", {**causal("llama", tie_word_embeddings=False), "hidden_size": 2}, tied)
    save("draft", {**causal("llama", vocab_size=9), "hidden_size": 3},
         {"model.embed_tokens.weight": PADDED[:9], "lm_head.weight": PADDED[:2]}, WORDS)
    save("narrow", {**causal("llama", vocab_size=2), "hidden_size": 3},
         {"model.embed_tokens.weight": TWO, "lm_head.weight": PADDED[:2]})
    save("gemma", {**causal("gemma", vocab_size=2), "hidden_size": 2}, tied)


main()
