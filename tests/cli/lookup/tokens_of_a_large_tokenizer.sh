# A vocabulary of over 4 MiB: ids have their tokens all the same, as text and as JSON.
. "$DATA/../cli/lib.sh"
mkdir m
python3 - <<'END'
import json
import struct
n = 6
header = json.dumps({"embed.weight": {"dtype": "F32", "shape": [n, 2], "data_offsets": [0, 8 * n]}}).encode()
open("m/model.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + struct.pack("<12f", *range(2 * n)))
words = {f"w{i}": i for i in range(n)}
text = json.dumps({"model": {"type": "BPE", "vocab": words, "merges": []}})
open("m/tokenizer.json", "w").write(text[:-1] + " " * (5 << 20) + "}")
END
run wte lookup m 4
run wte lookup m 4 --json
