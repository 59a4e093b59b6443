# Two quantised tables, the head first: first and last row of each are those of a decoding by hand, none beyond.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
block = lambda first: struct.pack("<e32b", 0.5, *range(first, first + 32))
rows = lambda first: b"".join(block(first + i) for i in range(3))
gguf("m.gguf", [("output.weight", [32, 3], 8, rows(50)), ("token_embd.weight", [32, 3], 8, rows(0))])
entries = gguf_text("token_embd.weight") + struct.pack("<I2QIQ", 2, 32, 3, 8, 128)
entries += gguf_text("output.weight") + struct.pack("<I2QIQ", 2, 32, 3, 8, 0)
out = b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + entries
pathlib.Path("reverse.gguf").write_bytes(out + bytes(-len(out) % 32) + rows(50) + bytes(26) + rows(0) + bytes(26))
END
for id in 0 2 3; do
    run wte lookup m.gguf $id
    run wte lookup m.gguf --tensor output.weight $id
done
# the format wants data in the order of the entries
run wte lookup reverse.gguf 0
