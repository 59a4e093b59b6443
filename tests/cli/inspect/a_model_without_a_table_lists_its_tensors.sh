# No table is no failure here: the tensors can be listed and one of them named.
. "$DATA/../cli/lib.sh"
python3 - << 'END'
import json, struct
header = {}
for i, name in enumerate(["wpe.weight", "odd\u001b[31mname\n", "b"]):
    header[name] = {"dtype": "F32", "shape": [2, 2 + i], "data_offsets": [sum(8 * (2 + k) for k in range(i)), sum(8 * (2 + k) for k in range(i + 1))]}
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
open("m.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + bytes(72))
END
run wte inspect m.safetensors --all
run wte inspect m.safetensors --tensor b
run wte inspect m.safetensors --tensor c
