# Dimensions, alignments, lengths and counts that only a hostile file has: each refused with its number.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
A = ("general.architecture", 8, gguf_text("llama"))
T = ("token_embd.weight", [4, 6], 0, f32(table(6, 4)))
name = "token_embd.weight"
gguf("dim.gguf", [(name, [4, 2**42 + 1], 0, b"")], [A])
gguf("wrap.gguf", [(name, [2**62, 2**62], 0, b"")], [A])
gguf("negative.gguf", [(name, [2**64 - 4, 6], 0, b"")], [A])
gguf("dims.gguf", [(name, [4, 6, 1, 1, 1], 0, b"")], [A])
for alignment in (0, 3, 2**30):
    gguf(f"align{alignment}.gguf", [T], [("general.alignment", 4, struct.pack("<I", alignment))])
gguf("string.gguf", [T], [("general.name", 8, struct.pack("<Q", 2**40))])
gguf("array.gguf", [T], [("x", 9, struct.pack("<IQ", 4, 2**60))])
gguf("nested.gguf", [T], [("x", 9, struct.pack("<IQ", 9, 1))])
gguf("type.gguf", [T], [("x", 99, b"")])
gguf("block.gguf", [(name, [4, 6], 77, b"")])
gguf("zero.gguf", [(name, [0, 6], 2, b"")], [A])
gguf("whole.gguf", [T], [A])
whole = pathlib.Path("whole.gguf").read_bytes()
for number, raw in (("tensors", struct.pack("<IQQ", 3, 2**60, 1)), ("pairs", struct.pack("<IQQ", 3, 1, 2**60)),
                    ("version", struct.pack("<IQQ", 9, 1, 1))):
    pathlib.Path(f"{number}.gguf").write_bytes(whole[:4] + raw + whole[24:])
pathlib.Path("cut.gguf").write_bytes(whole[:-1])
END
for m in dim wrap negative dims align0 align3 align1073741824 string array nested type block tensors pairs version cut; do
    run wte lookup $m.gguf 0
done
# rows of no numbers are rows
run wte lookup zero.gguf 5
run wte check zero.gguf --only table-empty
