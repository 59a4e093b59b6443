"""Seeds of the PyTorch target: whole files; and a byte that sizes a storage, then the pickle of an archive."""
import struct

from seeds_pickle import state, storage, tensor, text
from seeds_zip import archive, deflated

MAGIC = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19."
FACTS = b"\x80\x02M\xe9\x03.\x80\x02}" + text("little_endian") + b"\x88s."


def legacy(*tensors, count=24):
    return MAGIC + FACTS + state(*tensors) + b"\x80\x02]" + text("0") + b"a." + struct.pack("<q", count) + bytes(range(4 * count))


def member(name, data):
    block = bytearray(512)
    block[: len(name)] = name.encode()
    block[124:135] = b"%011o" % len(data)
    block[148:156] = b" " * 8
    block[156] = ord("0")
    block[257:265] = b"ustar  \0"
    block[148:155] = b"%06o\0" % sum(block)
    return bytes(block) + data + bytes(-len(data) % 512)


def tar():
    storages = b"\x80\x02K\1.\x80\x02" + text("a") + text("cpu") + b"ctorch\nFloatStorage\n\x87." + struct.pack("<q", 6) + bytes(range(24))
    storages += b"\x80\x02](" + text("v") + text("a") + b"K\2K\4ta."
    tensors = b"\x80\x02K\1.\x80\x02K\1" + text("a") + b"ctorch\nFloatTensor\n\x87." + struct.pack("<ii5q", 2, 0, 2, 3, 3, 1, 0)
    names = b"\x80\x02}" + text("w") + b"K\1Qs."
    return member("sys_info", b"") + member("storages", storages) + member("tensors", tensors) + member("pickle", names)


def seeds_torch():
    whole = [("a/data.pkl", state(tensor(), tensor((3, 2), (1, 3)))), ("a/data/0", bytes(range(96))), ("a/version", b"3\n")]
    yield "stored", archive(whole)
    yield "deflated", deflated(whole)
    yield "big", archive(whole + [("a/byteorder", b"big")])
    yield "script", archive(whole + [("a/constants.pkl", b"\x80\x02).")])
    yield "legacy", legacy(tensor(), tensor(offset=3))
    yield "legacy_cut", legacy(tensor())[:-5]
    yield "tar", tar()
    sized = lambda *tensors, order=0: bytes([96 | order]) + state(*tensors)  # noqa: E731
    yield "views", sized(tensor(), tensor((3, 2), (1, 3)), tensor((2, 2), (6, 2), 1), tensor((3, 3), (0, 1)))
    yield "views_big", sized(tensor(), tensor((4, 5), (5, 1)), order=128)
    yield "half", bytes([48]) + state(tensor((5, 4), (1, 5), kind="HalfStorage"))
    yield "beyond", sized(tensor((9, 9), (9, 9)))
    yield "negative", sized(tensor((2, -3)))
    yield "nested", bytes([96]) + b"\x80\x02}" + text("state_dict") + b"}" + text("w") + tensor() + b"ss."
    yield "list", bytes([96]) + b"\x80\x02](" + tensor() + tensor(offset=2) + b"e."
    yield "no_storage", bytes([96]) + b"\x80\x02}" + text("w") + storage() + b"s."
