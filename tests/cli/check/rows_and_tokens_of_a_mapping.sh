# A static model maps 12 ids to 5 rows: a finding about rows says how many tokens lie on them.
. "$DATA/../cli/lib.sh"
python3 -B - << 'END'
import json, struct
rows = [[1.0, 2.0], [0.0, 0.0], [3.0, -1.0], [3.0, -1.0], [0.5, 4.0]]
ids = [0, 1, 1, 2, 1, 3, 0, 1, 2, 0, 0, 1]
table = b"".join(struct.pack("<2f", *r) for r in rows)
mapping = struct.pack("<12q", *ids)
head = {"embeddings": {"dtype": "F32", "shape": [5, 2], "data_offsets": [0, 40]},
        "mapping": {"dtype": "I64", "shape": [12], "data_offsets": [40, 136]}}
text = json.dumps(head).encode()
open("model.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + table + mapping)
open("config.json", "w").write('{"model_type": "model2vec"}')
open("vocab.txt", "w").write("".join(f"t{i}\n" for i in range(12)))
END
run wte check model.safetensors --only rows-zero,rows-duplicate,rows-unreferenced
run wte check model.safetensors --only rows-zero --json
