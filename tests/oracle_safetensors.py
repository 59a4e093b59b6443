#!/usr/bin/env python3
"""Compare our safetensors reader and writer with the reference (the package safetensors of PyPI).

usage: oracle_safetensors.py LIBRARY

Exit 77 when the package or NumPy is not there. What must hold:
- a file that the reference writes is read with the same names, types, shapes and bytes;
- our writer gives the same bytes as the reference's for the same tensors;
- of headers broken at random, whatever we accept the reference accepts with the same content, and what only
  we refuse is refused for a rule that the reference does not check (STRICTER).
"""
import json
import pathlib
import random
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED  # noqa: E402

try:
    import numpy as np
    import safetensors
    import safetensors.numpy
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)
from oracle_files import TYPES, Files  # noqa: E402

SEED = 20240607
STRICTER = [
    "duplicate",  # names in the header, keys in the metadata: the text of the format forbids them
    "does not begin with '{'",  # so does it white space in front
    "its entry is not an object",  # a list of the three values in order is taken by the reference
    "dtype is not a string",  # {"F32": null} too
    "more than 16 dimensions",
    "nested more than 64",
]
NUMBER = {code: number for number, (_, code) in TYPES.items() if code}
LETTERS = ["a", "b", ".", "wte", "\"", "\\", "\n", "\u00e9", "\x1f", "\x7f", "\U0001f600", "/", " "]


def random_tensors(rng):
    """{name: array} of 0 to 6 tensors of all types and up to 3 dimensions."""
    found = {}
    for _ in range(rng.randrange(7)):
        name = "".join(rng.choice(LETTERS) for _ in range(rng.randrange(1, 5)))
        code = rng.choice([k for k in NUMBER if k != "c8"])
        shape = tuple(rng.choice([0, 1, 2, 3, 5]) for _ in range(rng.randrange(4)))
        raw = rng.randbytes(int(np.prod(shape, dtype=int)) * np.dtype(code).itemsize)
        found[name] = np.frombuffer(raw, dtype=code).reshape(shape)
    return found


def check_read(ours, data, where):
    """Our reading of data equals the reference's; returns False when both refuse."""
    got = ours.read(data)
    try:
        want = dict(safetensors.deserialize(data))
    except Exception:
        want = None
    if isinstance(got, str):
        if want is None:
            return False
        assert any(rule in got for rule in STRICTER), f"{where}: only we refuse: {got}\n{data!r}"
        return False
    if want is None and any(tensor.dtype == 0 for _, tensor, _ in got):
        return False  # a dtype that neither knows: ours closes that tensor, the reference the file
    assert want is not None, f"{where}: only we accept {data!r}"
    assert len(got) == len(want), where
    for name, tensor, content in got:
        other = want[name.decode()]
        assert TYPES[tensor.dtype][0] == other["dtype"], where
        assert list(tensor.shape[: tensor.rank]) == list(other["shape"]), where
        assert content == bytes(other["data"]), where
    return True


def check_write(ours, tensors, metadata, path, where):
    want = safetensors.numpy.save(tensors, metadata or None)
    listed = [(n.encode(), NUMBER[a.dtype.str[1:]], a.shape, a.tobytes()) for n, a in tensors.items()]
    ours.write_safetensors(path, listed, metadata)
    got = pathlib.Path(path).read_bytes()
    assert got == want, f"{where}:\n{got!r}\n{want!r}"
    return want


def broken(rng, data):
    """data with one to three changes in its header, or in its length."""
    (n,) = struct.unpack("<Q", data[:8])
    header, rest = data[8 : 8 + n], data[8 + n :]
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(header) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            header = header[:at] + header[at + 1 :]
        elif kind == 1:
            header = header[:at] + rng.choice([b"0", b"1", b",", b"]", b"{", b'"', b" ", b"-", b".", b"\xc3", b"\\"]) + header[at:]
        elif kind == 2:
            swap = [(b"F32", b"I32"), (b"shape", b"Shape"), (b"U8", b"I8"), (b"[0,", b"[1,"), (b"1", b"2"), (b"F", b"BF"), (b"null", b"{}")]
            old, new = rng.choice(swap)
            header = header.replace(old, new, 1)
        elif kind == 3:
            rest = rest[: rng.randrange(len(rest) + 1)]
        else:
            length = rng.randrange(12)
            header = header[:at] + header[at : at + length] + header[at:]
    return struct.pack("<Q", len(header)) + header + rest


def main():
    ours, rng = Files(sys.argv[1]), random.Random(SEED)
    accepted = refused = 0
    with tempfile.TemporaryDirectory() as scratch:
        for i in range(100):
            where = f"seed {SEED}, file {i}"
            tensors = random_tensors(rng)
            metadata = {"format": rng.choice(["pt", "np", "\u00e9\n"])} if rng.random() < 0.5 else {}
            data = check_write(ours, tensors, metadata, f"{scratch}/t", where)
            assert check_read(ours, data, where), where
            for k in range(200):
                if check_read(ours, broken(rng, data), f"{where}, change {k}"):
                    accepted += 1
                else:
                    refused += 1
    print(f"safetensors {safetensors.__version__}: 100 files equal; of 20000 broken ones {accepted} read alike, {refused} refused")
    assert accepted > 100 and refused > 1000


main()
