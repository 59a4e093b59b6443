# Lengths, offsets and shapes that a file only claims: each refused with the tensor and the numbers.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
def entry(name, shape, offsets, dtype="F32"):
    text = f'{{"a":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}'
    raw_safetensors(f"{name}.safetensors", text.encode(), bytes(8))

entry("reversed", "[2]", "[8,0]")
entry("negative", "[2]", "[-8,0]")
entry("fraction", "[2]", "[0,8.0]")
entry("one", "[2]", "[8]")
entry("three", "[2]", "[0,8,8]")
entry("span", "[100,100]", "[0,8]")
entry("wraps", "[4294967296,4294967296]", "[0,8]")
entry("wide", "[18446744073709551616]", "[0,8]")
entry("beyond", "[4]", "[0,16]")
entry("far", "[4]", "[18446744073709551600,18446744073709551615]")
entry("type", "[2]", "[0,8]", "F33")
raw_safetensors("list.safetensors", b"[1]", bytes(8))
raw_safetensors("longest.safetensors", b"{}", bytes(8), 2**64 - 1)
raw_safetensors("long.safetensors", b"{}", bytes(8), 1000)
END
for m in reversed negative fraction one three span wraps wide beyond far type list longest long; do run wte inspect $m.safetensors; done
