#!/usr/bin/env python3
"""Write the .npy and .npz files of tests/data/npy with NumPy 1.24 (Debian's python3-numpy).

usage: make_golden_npy.py OUTPUT_DIRECTORY

An array of shape s holds 0, 1, 2, ... in row order, less 2 when the type has a sign (so -2, -1, 0, 1, ...);
complex ones have half of that as their imaginary part; bool ones are value % 2. test_npy.c knows this rule.
"""
import io
import pathlib
import sys

import numpy as np

TYPES = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "c8"]
SHAPES = [
    ("<f4", ()),
    ("<f4", (1,)),
    ("<f2", (50257, 768)),
    ("<f8", (128000, 4096)),
    ("|u1", (0, 4)),
    ("|b1", (2**63 - 1,)),
    ("<c8", (1,) * 16),
    ("<i8", (10**18,) * 16),
    ("<i4", (7, 123456789012345678, 3)),
]


def array(kind, shape=(2, 3)):
    n = int(np.prod(shape, dtype=np.int64))
    values = np.arange(n, dtype=np.float64)
    if np.dtype(kind).kind in "fic":
        values -= 2
    if np.dtype(kind).kind == "c":
        values = values + 0.5j * values
    if np.dtype(kind).kind == "b":
        values %= 2
    return values.astype(kind).reshape(shape)


def save(path, data, version=None):
    with open(path, "wb") as f:
        np.lib.format.write_array(f, data, version=version)


def header(descr, shape):
    buf = io.BytesIO()
    np.lib.format.write_array_header_1_0(buf, {"descr": descr, "fortran_order": False, "shape": shape})
    return buf.getvalue()


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for kind in TYPES:
        save(out / f"{kind}.npy", array(kind))
    for kind in ["f2", "f4", "f8", "i2", "u8", "c8"]:
        save(out / f"{kind}-big.npy", array(">" + kind))
    for kind in ["f4", "i1", ">f4", ">c8"]:
        save(out / f"{kind.strip('>')}{'-big' if kind[0] == '>' else ''}-fortran.npy", np.asfortranarray(array(kind)))
    save(out / "f4-v2.npy", array("f4"), (2, 0))
    save(out / "f4-v3.npy", array("f4"), (3, 0))
    save(out / "scalar.npy", array("f4", ()))
    save(out / "one.npy", array("f4", (5,)))
    save(out / "none.npy", array("f4", (0, 4)))
    save(out / "three.npy", array("f4", (2, 3, 4)))
    save(out / "inner.npy", array("f4", (3, 1, 2)))
    arrays = {
        "big": array(">i2"),
        "fortran": np.asfortranarray(array("f4")),
        "inner/table": array("f4"),
        "one": array("f8", (5,)),
        "words": np.array(["king", "queen"]),
    }
    np.savez(out / "stored.npz", **arrays)
    np.savez_compressed(out / "deflated.npz", **arrays)
    lines = [f"{d} {len(s)} {' '.join(map(str, s))} {header(d, s).hex()}\n" for d, s in SHAPES]
    (out / "headers.txt").write_text("".join(lines))


main()
