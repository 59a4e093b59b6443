"""Write q8_0.gguf, a table of 2 rows of 32 numbers in one block each, and f32.npy, the numbers they stand for."""
import struct

ROWS = [(0.5, list(range(-16, 16))), (0.25, [3] * 32)]


def text(s):
    return struct.pack("<Q", len(s)) + s.encode()


def main():
    blocks = b"".join(struct.pack("<e32b", scale, *codes) for scale, codes in ROWS)
    architecture = text("general.architecture") + struct.pack("<I", 8) + text("llama")
    tensor = text("token_embd.weight") + struct.pack("<IQQIQ", 2, 32, len(ROWS), 8, 0)
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + architecture + tensor
    with open("q8_0.gguf", "wb") as f:
        f.write(head + bytes(-len(head) % 32) + blocks + bytes(-len(blocks) % 32))
    names = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 32), }"
    numbers = [scale * code for scale, codes in ROWS for code in codes]
    with open("f32.npy", "wb") as f:
        f.write(b"\x93NUMPY\x01\x00v\x00" + names.ljust(117).encode() + b"\n" + struct.pack("<64f", *numbers))


main()
