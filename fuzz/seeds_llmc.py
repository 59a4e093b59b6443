"""Seeds of the llm.c target: whole files; and eight bytes that choose the sizes of one."""
import struct


def checkpoint(version=3, positions=3, vocab=5, layers=2, heads=2, width=4, padded=8, more=0, magic=20240326):
    element = 4 if version == 3 else 2
    per_layer = 12 * width * width + 13 * width
    numbers = (padded + positions + 2) * width + layers * per_layer
    data = bytes(i * 37 % 256 for i in range(max(0, numbers * element + more)))
    return struct.pack("<256i", magic, version, positions, vocab, layers, heads, width, padded, *[0] * 248) + data


def seeds_llmc():
    yield "f32", checkpoint()
    yield "bf16", checkpoint(version=5)
    yield "one_layer", checkpoint(layers=1, width=2)
    yield "cut", checkpoint(more=-1)
    yield "longer", checkpoint(more=4)
    yield "version", checkpoint(version=1)
    yield "negative", checkpoint()[:12] + struct.pack("<i", -5) + checkpoint()[16:]
    yield "padded", checkpoint(vocab=9)
    yield "wide", struct.pack("<256i", 20240326, 3, 1, 1, 1, 1, 2**31 - 1, 2**31 - 1, *[0] * 248)
    yield "header", checkpoint()[:1024]
    yield "short", checkpoint()[:1000]
    yield "llama", checkpoint(magic=20240803)
    yield "sizes", bytes([1, 3, 5, 2, 2, 4, 8, 0])
    yield "sizes_bf16", bytes([0, 1, 7, 1, 1, 2, 7, 0])
    yield "sizes_longer", bytes([1, 3, 5, 2, 2, 4, 8, 131])
    yield "sizes_zero", bytes([1, 3, 0, 2, 2, 4, 8, 0])
