"""Seeds of the .npz target: archives of arrays, stored and deflated, and with other things in them."""
import struct

from seeds_zip import archive, deflated


def array(descr, shape, data, order=False):
    text = f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text + data


MEMBERS = [
    ("table.npy", array("<f4", (2, 3), bytes(range(24)))),
    ("inner/big.npy", array(">i2", (4,), bytes(8), True)),
    ("none.npy", array("<f8", (0, 4), b"")),
]


def seeds_npz():
    yield "stored", archive(MEMBERS)
    yield "deflated", deflated(MEMBERS)
    yield "words", archive(MEMBERS + [("words.npy", array("<U3", (2,), bytes(24))), ("note.txt", b"x")])
    named = [("v.npy", array("<f4", (2, 2), bytes(16)))]
    yield "tokens", archive(named + [("words.npy", array("<U2", (2,), "a\0bc".encode("utf-32-le")))])
    yield "byte_tokens", deflated(named + [("words.npy", array("|S3", (2,), b"abcd\0\0"))])
    yield "no_character", archive(named + [("words.npy", array(">U1", (2,), b"\xff" * 8))])
    yield "objects", archive([("o.npy", array("|O", (2,), bytes(24)))])
    yield "short", deflated([("s.npy", array("<f4", (20, 3), bytes(24)))])
    yield "wraps", archive([("w.npy", array("<f4", (1 << 32, 1 << 32), bytes(24)))])
    yield "no_array", archive([("n.npy", b"PK\3\4")])
    yield "no_name", archive([(".npy", array("<f4", (1,), bytes(4)))])
