"""Seeds of the llama2.c target: whole files; and eight bytes that choose the sizes of one."""
import struct

SMALL = {"dim": 4, "hidden": 6, "layers": 1, "heads": 2, "kv": 1, "vocab": 5, "length": 3}


def numbers(dim, hidden, layers, heads, kv, vocab, length):
    each = dim // heads
    return vocab * dim + layers * (2 * dim + 2 * dim * dim + 2 * kv * each * dim + 3 * hidden * dim) + dim, 2 * length * (each // 2)


def checkpoint(version=0, apart=False, more=0, **other):
    s = SMALL | other
    body, frequencies = numbers(**s)
    n = body + (0 if version else frequencies) + (s["vocab"] * s["dim"] if apart else 0)
    data = bytes(i * 37 % 256 for i in range(4 * n + more))
    fields = list(s.values())
    if version:
        return struct.pack("<Ii7iB", 0x616B3432, version, *fields, not apart).ljust(256, b"\0") + data
    fields[5] = -fields[5] if apart else fields[5]
    return struct.pack("<7i", *fields) + data


def seeds_llama2c():
    yield "tied", checkpoint()
    yield "apart", checkpoint(apart=True)
    yield "version1", checkpoint(version=1)
    yield "version1_apart", checkpoint(version=1, apart=True)
    yield "version2", checkpoint(version=2)
    yield "cut", checkpoint(more=-1)
    yield "longer", checkpoint(more=4)
    yield "version1_longer", checkpoint(version=1, more=4)
    yield "heads", checkpoint(version=1)[:20] + struct.pack("<i", 3) + checkpoint(version=1)[24:]
    yield "header", checkpoint()[:28]
    yield "short", checkpoint(version=1)[:100]
    yield "sizes", bytes([1, 3, 1, 1, 1, 4, 2, 0])
    yield "sizes_apart", bytes([0, 5, 2, 2, 0, 15, 7, 1])
    yield "sizes_longer", bytes([1, 3, 1, 1, 1, 4, 2, 0x82])
