# The head's row, a position row, and the sum of token and position: each is named.
. "$DATA/../cli/lib.sh"
mkdir model
cat > make.py << 'END'
import json, random, struct
random.seed(5)
rows = {"wte.weight": 7, "wpe.weight": 5, "lm_head.weight": 7}
table = {name: [[random.uniform(-1, 1) for _ in range(6)] for _ in range(n)] for name, n in rows.items()}
header, at = {}, 0
for name, n in rows.items():
    header[name] = {"dtype": "F32", "shape": [n, 6], "data_offsets": [at, at + n * 24]}
    at += n * 24
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open("model/model.safetensors", "wb") as f:
    f.write(struct.pack("<Q", len(text)) + text)
    for name in rows:
        for row in table[name]:
            f.write(struct.pack("<6f", *row))
json.dump({"model_type": "gpt2", "tie_word_embeddings": False}, open("model/config.json", "w"))
f32 = lambda x: struct.unpack("<f", struct.pack("<f", x))[0]
token, position = ([f32(x) for x in table[name][r]] for name, r in (("wte.weight", 4), ("wpe.weight", 2)))
open("head", "wb").write(struct.pack("<6f", *table["lm_head.weight"][4]))
open("position", "wb").write(struct.pack("<6f", *position))
open("sum", "wb").write(struct.pack("<6f", *(a + b for a, b in zip(token, position))))
END
python3 make.py
for got in head position sum; do
    npy $got.npy '<f4' False '(6,)' < $got
    run wte diagnose model --id 4 --observed $got.npy
done
