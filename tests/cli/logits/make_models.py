"""Write small models into folders: one for each family whose head does more than multiply (rows [1, 0] and [3, 4]), and
some of three columns with padding, holes, a bias, or a head that is lost."""
import json
import os
import struct
import sys

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


def gguf(path, arch, tensors):
    """An F32 file of that architecture; tensors: {name: rows or numbers}."""
    def text(t):
        return struct.pack("<Q", len(t)) + t.encode()
    kv = {"general.architecture": arch, "tokenizer.ggml.model": "gpt2"}
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(kv) + 1)
    for key, value in kv.items():
        out += text(key) + struct.pack("<I", 8) + text(value)
    out += text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 3) + b"".join(map(text, "abc"))
    data = b""
    for name, rows in tensors.items():
        flat = [x for row in rows for x in row] if isinstance(rows[0], list) else rows
        shape = [len(rows[0]), len(rows)] if isinstance(rows[0], list) else [len(rows)]
        out += text(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
        out += struct.pack("<IQ", 0, len(data))
        data += struct.pack(f"<{len(flat)}f", *flat)
        data += bytes(-len(data) % 32)
    with open(path, "wb") as f:
        f.write(out + bytes(-len(out) % 32) + data)


def biased():
    """Heads of rows [3, 0], [2, 0], [1, 0] with the bias 0, 0, 5 under the name that each family gives it."""
    head, bias = [[3, 0], [2, 0], [1, 0]], [0, 0, 5]
    def model(folder, family, tensors, class_name="ForCausalLM", **more):
        save(folder, {"model_type": family, "architectures": [family.capitalize() + class_name], "vocab_size": 3,
                      "hidden_size": 2, **more}, tensors)
    stored = {
        "phi": ("model.embed_tokens.weight", "lm_head.weight", "lm_head.bias"),
        "phi-msft": ("transformer.embd.wte.weight", "lm_head.linear.weight", "lm_head.linear.bias"),
        "phimoe": ("model.embed_tokens.weight", "lm_head.weight", "lm_head_bias"),
        "xlnet": ("transformer.word_embedding.weight", "lm_loss.weight", "lm_loss.bias"),
        "xlm": ("transformer.embeddings.weight", "pred_layer.proj.weight", "pred_layer.proj.bias"),
        "internlm": ("tok_embeddings.weight", "output.weight", "output.bias"),
        "seq2seq": ("encoder.embed_tokens.weight", "decoder.out.weight", "decoder.out.bias"),
    }
    for folder, names in stored.items():
        model(folder, folder, dict(zip(names, (head, head, bias))), tie_word_embeddings=False)
    tied = {
        "modernbert": ("model.embeddings.tok_embeddings.weight", "decoder.bias"),
        "bert": ("bert.embeddings.word_embeddings.weight", "cls.predictions.bias"),
        "deberta": ("deberta.embeddings.word_embeddings.weight", "lm_predictions.lm_head.bias"),
        "electra": ("electra.embeddings.word_embeddings.weight", "generator_lm_head.bias"),
        "bart": ("model.shared.weight", "final_logits_bias"),
    }
    for folder, names in tied.items():
        model(folder, folder, dict(zip(names, (head, bias))), "ForMaskedLM", tie_word_embeddings=True)
    llama = {"model.embed_tokens.weight": head, "lm_head.weight": head}
    model("copies", "bert", {"bert.embeddings.word_embeddings.weight": head, "cls.predictions.bias": bias,
                             "cls.predictions.decoder.bias": bias}, "ForMaskedLM", tie_word_embeddings=True)
    model("two", "bert", {"bert.embeddings.word_embeddings.weight": head, "cls.predictions.bias": bias,
                          "cls.predictions.decoder.bias": [1, 0, 0]}, "ForMaskedLM", tie_word_embeddings=True)
    model("unclear", "llama", {**llama, "logits.shift_bias": bias})
    model("short", "llama", {**llama, "lm_head.bias": [1, 2]})
    model("owned", "llama", {**llama, "router.bias": bias, "router.weight": [[1, 2, 4], [2, 3, 4], [3, 4, 4]]})
    gguf("phi2.gguf", "phi2", {"token_embd.weight": head, "output.weight": head, "output.bias": bias})
    gguf("tied.gguf", "phi2", {"token_embd.weight": head, "output.bias": bias})
    gguf("cls.gguf", "bert", {"token_embd.weight": head, "output.weight": head, "cls.output.bias": bias})


def causal(family, **facts):
    return {"model_type": family, "architectures": [f"{family.capitalize()}ForCausalLM"], "hidden_size": 2, "vocab_size": 2,
            **facts}


def main():
    if sys.argv[1:] == ["biases"]:
        biased()
        return
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
