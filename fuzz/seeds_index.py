"""Seeds of the index target: texts that name the shards which the target writes beside them."""
import json


def index(**names):
    return json.dumps({"metadata": {"total_size": 24}, "weight_map": names}).encode()


def seeds_index():
    a, b, p, q = "a.safetensors", "b.safetensors", "p.bin", "q.bin"
    yield "two", index(x=a, y=a, z=b)
    yield "stray", index(x=b, y=a)
    yield "empty_name", json.dumps({"weight_map": {"": b, "x": a}}).encode()
    yield "torch", index(x=p, w=p, y=q)
    yield "torch_stray", index(w=p, y=q)
    yield "mixed", index(x=a, w=p)
    yield "elsewhere", index(x=a, z=a, y=b)
    yield "nowhere", index(v=a)
    yield "missing", index(x="c.safetensors")
    yield "broken", index(x="broken.safetensors")
    yield "itself", index(x="index.json")
    yield "outside", index(x="../a.safetensors")
    yield "absolute", index(x="/etc/passwd")
    yield "below", index(x="./a.safetensors", y="sub/../a.safetensors")
    yield "twice", b'{"weight_map":{"x":"a.safetensors","x":"b.safetensors"}}'
    yield "maps", b'{"weight_map":{"x":"a.safetensors"},"weight_map":{}}'
    yield "none", b'{"weight_map":{}}'
    yield "number", b'{"weight_map":{"x":1}}'
    yield "list", b'{"weight_map":["a.safetensors"]}'
    yield "escaped", rb'{"weight_map":{"\u0078":"\u0061.safetensors","y\u0000":"a.safetensors"}}'
    yield "no_index", b'{"error":"Repository not found"}'
    yield "cut", b'{"weight_map":{"x":"a.safe'
    yield "bom", b"\xef\xbb\xbf" + index(x=a)
