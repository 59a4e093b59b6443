# Tokens whose texts have plain spaces among the marks for them: each is found by what people write, also among 60,000 of
# its kind, and when 1,024 of them are written alike.
python3 - <<'P'
import itertools, json, os, struct

def model(folder, tokens):
    os.mkdir(folder)
    head = json.dumps({"wte.weight": {"dtype": "F32", "shape": [len(tokens), 1],
                                      "data_offsets": [0, 4 * len(tokens)]}}).encode()
    with open(folder + "/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head + struct.pack(f"<{len(tokens)}f", *range(len(tokens))))
    with open(folder + "/tokenizer.json", "w", encoding="utf-8") as file:
        json.dump({"version": "1.0", "decoder": {"type": "Metaspace", "replacement": "\u2581"}, "added_tokens": [],
                   "model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)}, "merges": []}}, file)

n = 60000
model("a", [f"\u2581x y{i}" for i in range(n)])
model("b", [f"\u2581x y{(i + 1) % n}" for i in range(n)])
model("c", ["a" + "a".join(marks) + "a" for marks in itertools.product(" \u2581", repeat=10)] + ["\u2581" + "z" * 3000])
P
wte diff a b --by-token | sed -n '/tokens/,$p'
wte lookup a ' x y777' | tail -1
wte lookup c 'a a a a a a a a a a a'
wte lookup c "$(printf ' %3000s' '' | sed 's/ /z/g; s/z/ /')" | cut -c1-20 | tail -1
