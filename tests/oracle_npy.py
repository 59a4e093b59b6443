#!/usr/bin/env python3
"""Compare our .npy reader with NumPy's over headers in every spelling, whole and broken at random.

usage: oracle_npy.py LIBRARY

Exit 77 when NumPy is not there. What must hold: whatever we read NumPy reads, with the same type, shape, order
and bytes; what only we refuse is a type that we say we do not read, or a spelling in STRICTER.
"""
import io
import pathlib
import random
import struct
import sys
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED  # noqa: E402

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)
from oracle_files import TYPES, Files  # noqa: E402

SEED = 20240608
# What Python's literals and NumPy's type names allow beyond what any writer makes.
STRICTER = [
    "an escape in a text is not read",
    "is no NumPy type of numbers",  # '3f4', 'f4,f4', 'i' + machine-dependent spellings
    "a dimension is no integer",  # True, +3
    "a dimension is negative",  # -0
    "a text in quotes was expected",  # r'shape', 'sha' 'pe'
    "a colon was expected",
    "is not a dictionary",  # ({...})
    "more than 16 dimensions",
    "is none of them",  # bytes of other spelling
    "a comma or",  # 2 L, which NumPy takes for 2L
]
UNSUPPORTED = ["descr '", "descr is a record", "only 1.0, 2.0 and 3.0 exist"]
DESCR = ["<f4", ">f4", "=f4", "|f4", "f4", "<f2", ">f8", "|i1", "<i2", ">i4", "<i8", "|u1", ">u2", "<u4", "<u8", "|b1", "<c8", ">c8",
         "float32", "half", "int64", "bool", "<f", "?", "e", "d", "B", "|O", "<U3", "|S2", "<M8[s]", "|V2", "<c16", "f3", "x", ""]  # fmt: skip


def spelt(rng, version):
    """A header's text."""
    space = lambda: rng.choice(["", "", " ", "  ", "\t", "\n", " # it's {a} comment\n"])  # noqa: E731
    quoted = lambda s: rng.choice(["'%s'", '"%s"', "u'%s'"]) % s  # noqa: E731

    def number(n):
        forms = [str(n), str(n), hex(n), oct(n), bin(n)]
        if version < 3:
            forms.append(f"{n}L")
        return rng.choice(forms)

    shape = [rng.choice([0, 1, 2, 3]) for _ in range(rng.randrange(4))]
    inner = f",{space()}".join(number(n) for n in shape)
    if len(shape) == 1 or (shape and rng.random() < 0.3):
        inner += rng.choice([",", ",", ",", ""])
    pairs = {
        "descr": quoted(rng.choice(DESCR)),
        "fortran_order": rng.choice(["True", "False", "False"]),
        "shape": f"({space()}{inner}{space()})",
    }
    order = rng.sample(list(pairs), 3)
    if rng.random() < 0.05:
        order.append(rng.choice(order))
    if rng.random() < 0.05:
        order.pop()
    text = "," .join(f"{space()}{quoted(k)}{space()}:{space()}{pairs[k]}{space()}" for k in order)
    return "{" + text + rng.choice(["", ", "]) + "}" + rng.choice(["", " ", "   \n", "\n"])


def broken(rng, text):
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(3)
    if kind == 0:
        return text[:at] + text[at + 1 :]
    if kind == 1:
        return text[:at] + rng.choice(["0", "_", ",", ")", "(", "'", " ", "-", ".", "L", "x", "#", "[", ":", "\u00e9", "\n", "}"]) + text[at:]
    return text[:at] + text[at : at + rng.randrange(8)] + text[at:]


def numpys(data):
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
    except Exception:
        return None


def file_of(version, text, values):
    raw = text.encode("utf-8" if version == 3 else "latin-1")
    length = struct.pack("<H" if version == 1 else "<I", len(raw))
    return b"\x93NUMPY" + bytes([version, 0]) + length + raw + values


def check(ours, version, text, values, where):
    data = file_of(version, text, values)
    got, want = ours.read(data), numpys(data)
    if want is None and not isinstance(got, str):
        # Python stumbles over a last line of spaces alone; we do not
        want = numpys(file_of(version, text.rstrip(), values))
    if isinstance(got, str):
        if want is not None:
            assert any(rule in got for rule in STRICTER + UNSUPPORTED), f"{where}: only we refuse: {got}\n{data!r}"
        return False
    assert want is not None, f"{where}: only we accept {data!r}"
    (_, tensor, content) = got[0]
    code = TYPES[tensor.dtype][1]
    stored = np.dtype((">" if tensor.big_endian else "<") + code)
    assert want.dtype == stored, f"{where}: {want.dtype} is not {stored}: {data!r}"
    assert want.shape == tuple(tensor.shape[: tensor.rank]), where
    values = np.frombuffer(content, stored).reshape(want.shape, order="F" if tensor.column_major else "C")
    assert values.tobytes() == want.tobytes(), where
    return True


def main():
    ours, rng = Files(sys.argv[1]), random.Random(SEED)
    read = refused = 0
    for i in range(20000):
        version = rng.choice([1, 1, 2, 3])
        text = spelt(rng, version)
        for _ in range(rng.choice([0, 0, 1, 2])):
            text = broken(rng, text)
        values = rng.randbytes(rng.choice([27 * 8, 27 * 8, 300, 5]))
        if check(ours, version, text, values, f"seed {SEED}, file {i}"):
            read += 1
        else:
            refused += 1
    print(f"NumPy {np.__version__}: of 20000 headers {read} read alike, {refused} refused")
    assert read > 2000 and refused > 2000


main()
