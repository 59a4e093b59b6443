#!/usr/bin/python3
"""Write tests/data/golden_block.txt:  PYTHONPATH=<unpacked gguf wheel> /usr/bin/python3 tests/make_golden_block.py

What the dequantiser of the Python package `gguf` (0.19.0, numpy 1.24) makes of blocks of noise. One line a test:

    TYPE SEED BLOCKS PATCH HASH    blocks of noise, patched (OFFSET=HEX,... in each block, or -), decoded
    encode SEED BLOCKS - HASH      numbers from noise as q8_0

The noise is that of test_noise in test.h, eight bytes a draw; the hash is taken over the f32 results (encode: over the bytes),
every NaN counting as 7fc00000. gguf has no dequantiser for q1_0 and q2_0: their formulas are below.
"""
import pathlib

import numpy as np
from gguf import GGMLQuantizationType, quants
from gguf.constants import GGML_QUANT_SIZES

MASK = (1 << 64) - 1
# Where the f16 numbers of a block lie; where there is none, bytes to be patched are listed by themselves.
HALVES = {
    "q4_0": (0,), "q4_1": (0, 2), "q5_0": (0,), "q5_1": (0, 2), "q8_0": (0,), "q2_K": (80, 82), "q3_K": (108,),
    "q4_K": (0, 2), "q5_K": (0, 2), "q6_K": (208,), "iq2_xxs": (0,), "iq2_xs": (0,), "iq3_xxs": (0,), "iq1_s": (0,),
    "iq4_nl": (0,), "iq3_s": (0,), "iq2_s": (0,), "iq4_xs": (0,), "tq1_0": (52,), "tq2_0": (64,), "q1_0": (0,), "q2_0": (0,),
    "iq1_m": (), "mxfp4": (), "nvfp4": (),
}
# NaN, signalling NaN, infinities, the smallest subnormals, zeros, the largest numbers, and the largest subnormal
CORNERS = ("007e", "017c", "007c", "00fc", "0100", "0180", "0000", "0080", "ff7b", "fffb", "ff03")
BYTES = {
    "mxfp4": [f"0={e:02x}" for e in (0, 1, 2, 127, 252, 253, 254, 255)],
    "nvfp4": [f"0={x}" for x in ("007f80ff", "0107087e", "8187f8fe", "38400f10")],
    # the f16 scale in four upper nibbles: NaN, infinity, minus infinity, the smallest subnormal, the largest number
    "iq1_m": ["49=00,51=00,53=e0,55=70", "49=00,51=00,53=c0,55=70", "49=00,51=00,53=c0,55=f0", "49=10,51=00,53=00,55=00",
              "49=f0,51=f0,53=b0,55=70"],
}


def draws(seed):
    while True:
        seed ^= seed >> 12
        seed = (seed ^ seed << 25) & MASK
        seed ^= seed >> 27
        yield seed * 0x2545F4914F6CDD1D & MASK


def noise(seed, size):
    draw = draws(seed)
    return b"".join(next(draw).to_bytes(8, "little") for _ in range(size // 8 + 1))[:size]


def digest(words):
    value = 0xCBF29CE484222325
    for word in words:
        value = (value ^ int(word)) * 0x100000001B3 & MASK
    return value


def size_of(name):
    return {"q2_0": (64, 18)}.get(name) or GGML_QUANT_SIZES[GGMLQuantizationType[name.upper()]]


def decode(name, data):
    blocks = np.frombuffer(data, np.uint8).reshape(-1, size_of(name)[1])
    d = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    if name == "q1_0":
        bits = np.unpackbits(blocks[:, 2:], axis=1, bitorder="little")
        return np.where(bits == 1, d, -d)
    if name == "q2_0":
        fields = blocks[:, 2:, None] >> np.array([0, 2, 4, 6], np.uint8) & 3
        return (fields.reshape(-1, 64).astype(np.float32) - np.float32(1)) * d
    return quants.dequantize(blocks, GGMLQuantizationType[name.upper()])


def decoded(name, seed, n, patch):
    size = size_of(name)[1]
    data = bytearray(noise(seed, n * size))
    for change in patch.split(",") if patch != "-" else ():
        offset, _, text = change.partition("=")
        for block in range(n):
            start = block * size + int(offset)
            data[start:start + len(text) // 2] = bytes.fromhex(text)
    with np.errstate(all="ignore"):
        values = np.ascontiguousarray(decode(name, bytes(data)), np.float32).ravel()
    words = np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))
    return f"{name.lower()} {seed} {n} {patch} {digest(words):016x}"


def patches(name):
    size = size_of(name)[1]
    yield "0=" + "00" * size
    yield "0=" + "ff" * size
    yield from BYTES.get(name, ())
    for i, corner in enumerate(CORNERS if HALVES[name] else ()):
        halves = [corner, CORNERS[(i * 3 + 2) % len(CORNERS)]]
        yield ",".join(f"{at}={half}" for at, half in zip(HALVES[name], halves))


def encoded(seed, n):
    """Numbers of 24 bits with a common exponent in each block, from -60 to 22."""
    draw = draws(seed)
    values = np.zeros((n, 32), np.float32)
    for block in range(n):
        for i in range(32):
            values[block, i] = np.ldexp(float((next(draw) >> 40) - (1 << 23)), block * 7 % 83 - 60 - 23)
    return f"encode {seed} {n} - {digest(quants.quantize(values, GGMLQuantizationType.Q8_0).ravel()):016x}"


def lines():
    for number, name in enumerate(HALVES):
        for group in range(6):
            yield decoded(name, 1000 * number + group + 1, 8, "-")
        for group, patch in enumerate(patches(name)):
            yield decoded(name, 1000 * number + group + 101, 1, patch)
    for seed in range(1, 5):
        yield encoded(seed, 166)


def main():
    text = "\n".join(lines()) + "\n"
    assert len(text) < 65536, len(text)
    path = pathlib.Path(__file__).parent / "data/golden_block.txt"
    path.write_text(text)
    print(f"{text.count(chr(10))} tests, {len(text)} bytes")


main()
