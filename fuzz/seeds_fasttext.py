"""Seeds of the fastText target: small models, dense and quantised, pruned and not, good and bad; and one of wte train."""
import pathlib
import struct

TRAINED = pathlib.Path(__file__).resolve().parent.parent / "tests/data/fasttext/trained.bin"

WORDS = [b"</s>", b"a", "é".encode(), b"fox"]


def header(version=12, dim=2, kind=2, bucket=3, lengths=(1, 2), words=4, labels=0, pruned=-1):
    args = (dim, 5, 1, 1, 5, 1, 2, kind, bucket, *lengths, 100)
    return struct.pack("<Ii12id3iqq", 793712314, version, *args, 1e-4, words + labels, words, labels, 99, pruned)


def entries(words, kind=0):
    return b"".join(w + b"\0" + struct.pack("<qb", 5, kind) for w in words)


def dense(rows, cols):
    return struct.pack("<qq", rows, cols) + struct.pack(f"<{rows * cols}f", *(i / 8 - 1 for i in range(rows * cols)))


def product(dim, parts, width, last):
    return struct.pack("<4i", dim, parts, width, last) + struct.pack(f"<{dim * 256}f", *(i % 37 / 16 for i in range(dim * 256)))


def quantised(rows, normed):
    codes = bytes(i * 7 % 256 for i in range(rows * 2))
    data = struct.pack("<bqqi", normed, rows, 2, len(codes)) + codes + product(2, 2, 1, 1)
    return data + (bytes(range(rows)) + product(1, 1, 1, 1) if normed else b"")


def seeds_fasttext():
    whole = header() + entries(WORDS) + b"\0" + dense(7, 2) + b"\0" + dense(4, 2)
    yield "dense", whole
    yield "short", whole[:-3]
    yield "more", whole + b"x"
    yield "no_ngrams", header(lengths=(0, 0), bucket=0) + entries(WORDS) + b"\0" + dense(4, 2) + b"\0" + dense(4, 2)
    labels = header(kind=3, labels=1) + entries(WORDS) + entries([b"__label__x"], 1)
    yield "labels", labels + b"\0" + dense(7, 2) + b"\0" + dense(1, 2)
    yield "quantised", labels + b"\1" + quantised(7, 0) + b"\0" + dense(1, 2)
    yield "normed", labels + b"\1" + quantised(7, 1) + b"\1" + quantised(1, 0)
    pairs = struct.pack("<4i", 0, 1, 2, 0)
    yield "pruned", header(pruned=2) + entries(WORDS) + pairs + b"\1" + quantised(6, 0) + b"\0" + dense(4, 2)
    yield "pruned_all", header(pruned=0) + entries(WORDS) + b"\1" + quantised(4, 0) + b"\0" + dense(4, 2)
    yield "pruned_dense", header(pruned=0) + entries(WORDS) + b"\0" + dense(7, 2) + b"\0" + dense(4, 2)
    yield "version11", header(version=11, kind=3) + entries(WORDS) + b"\0" + dense(7, 2) + b"\0" + dense(4, 2)
    yield "version99", header(version=99)
    yield "few_rows", header() + entries(WORDS) + b"\0" + dense(6, 2) + b"\0" + dense(4, 2)
    yield "many", header(words=2000000000)
    yield "magic", b"\xba\x16\x4f\x2f"
    yield "trained", TRAINED.read_bytes()
