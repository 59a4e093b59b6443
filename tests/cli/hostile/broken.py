"""Broken and hostile files, one or more for each class of fault that a format can have.

broken() yields (name, bytes): files that must be refused. Names say format and fault. damaged() yields whole files
of tests/data in which bytes were cut or changed: whether those can still be read is for the reader to say.
"""
import gzip
import io
import json
import pathlib
import random
import struct
import zipfile

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "data"
F32 = struct.pack("<6f", 1, 2, 3, 4, 5, 6)


# safetensors ---------------------------------------------------------------------------------------------------------

def safetensors(header, data=F32, length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


def entry(dtype="F32", shape=(3, 2), offsets=(0, 24)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def safetensors_faults():
    good = entry()
    yield "short", b"\x02\0\0"
    yield "length-beyond", safetensors({"a": good}, length=10**6)
    yield "length-huge", safetensors({"a": good}, length=2**64 - 1)
    yield "length-wraps", safetensors({"a": good}, length=2**64 - 8)
    yield "length-zero", safetensors({"a": good}, length=0)
    yield "no-object", safetensors(b"[1]   ")
    yield "space-first", safetensors(b" " + json.dumps({"a": good}).encode())
    yield "no-json", safetensors(b'{"a": {]}')
    yield "no-utf8", safetensors(b'{"\xff": {}}')
    yield "deep", safetensors(b'{"a": ' + b"[" * 100000)
    yield "after", safetensors(json.dumps({"a": good}).encode() + b" {}")
    yield "metadata", safetensors({"__metadata__": {"a": 1}, "a": good})
    yield "duplicate", safetensors(b'{"a":%s,"a":%s}' % ((json.dumps(good).encode(),) * 2))
    for key in good:
        yield "without-" + key, safetensors({"a": {k: v for k, v in good.items() if k != key}})
    yield "dtype", safetensors({"a": entry("f33")})
    yield "shape-negative", safetensors({"a": entry(shape=(-3, 2))})
    yield "shape-fraction", safetensors({"a": entry(shape=(1.5, 2))})
    yield "shape-wraps", safetensors({"a": entry(shape=(2**32, 2**32))})
    yield "shape-bits-wrap", safetensors({"a": entry(shape=(2**61, 2))})
    yield "shape-rank", safetensors({"a": entry(shape=(1,) * 17)})
    yield "part-of-a-byte", safetensors({"a": entry("F4", (3, 1), (0, 2))}, bytes(2))
    yield "offsets-one", safetensors({"a": entry(offsets=(24,))})
    yield "offsets-reversed", safetensors({"a": entry(offsets=(24, 0))})
    yield "offsets-beyond", safetensors({"a": entry(shape=(6, 2), offsets=(0, 48))})
    yield "offsets-huge", safetensors({"a": entry(offsets=(2**64 - 24, 2**64))})
    yield "span", safetensors({"a": entry(shape=(100, 100))})
    yield "overlap", safetensors({"a": entry(), "b": entry(shape=(1, 2), offsets=(16, 24))})
    yield "hole", safetensors({"a": entry(shape=(1, 2), offsets=(0, 8)), "b": entry(shape=(1, 2), offsets=(16, 24))})
    yield "trailing", safetensors({"a": entry()}, F32 + b"x")
    yield "name-long", safetensors({"a" * 70000: entry()})


# GGUF ----------------------------------------------------------------------------------------------------------------

def text(raw):
    raw = raw if isinstance(raw, bytes) else raw.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf(tensors=(), pairs=(), version=3, counts=None, data=F32 + bytes(8)):
    n_tensors, n_pairs = counts or (len(tensors), len(pairs))
    out = b"GGUF" + struct.pack("<IQQ", version, n_tensors, n_pairs) + b"".join(pairs) + b"".join(tensors)
    return out + bytes(-len(out) % 32) + data


def info(name="token_embd.weight", ne=(2, 3), kind=0, offset=0, dims=None):
    return text(name) + struct.pack(f"<I{len(ne)}QIQ", len(ne) if dims is None else dims, *ne, kind, offset)


def pair(key, kind, raw):
    return text(key) + struct.pack("<I", kind) + raw


def gguf_faults():
    good = info()
    for version in (0, 1, 4, 0x03000001):
        yield f"version-{version}", gguf([good], version=version)
    yield "counts", gguf([good], counts=(2**62, 0))
    yield "count-of-pairs", gguf([good], counts=(1, 2**62))
    yield "key-empty", gguf([good], [pair("", 4, bytes(4))])
    yield "key-long", gguf([good], [pair("k" * 65536, 4, bytes(4))])
    yield "key-no-utf8", gguf([good], [pair(b"\xff", 4, bytes(4))])
    yield "key-beyond", gguf([good], [struct.pack("<Q", 2**63) + b"k"])
    yield "type", gguf([good], [pair("k", 13, bytes(4))])
    yield "bool", gguf([good], [pair("k", 7, b"\2")])
    yield "text-beyond", gguf([good], [pair("k", 8, struct.pack("<Q", 2**40))])
    yield "array-beyond", gguf([good], [pair("k", 9, struct.pack("<IQ", 10, 2**61))])
    yield "array-of-arrays", gguf([good], [pair("k", 9, struct.pack("<IQ", 9, 0))])
    yield "array-type", gguf([good], [pair("k", 9, struct.pack("<IQ", 13, 0))])
    for alignment in (0, 3, 2**31):
        yield f"alignment-{alignment}", gguf([good], [pair("general.alignment", 4, struct.pack("<I", alignment))])
    yield "alignment-type", gguf([good], [pair("general.alignment", 10, struct.pack("<Q", 32))])
    yield "name-long", gguf([info("n" * 64)])
    yield "name-no-utf8", gguf([info(b"\xfe")])
    yield "name-twice", gguf([good, info(offset=32)], data=bytes(64))
    yield "dims-5", gguf([info(ne=(2, 3, 1, 1, 1))])
    yield "dims-huge", gguf([info(dims=2**32 - 1)])
    yield "ne-negative", gguf([info(ne=(2**64 - 2, 3))])
    yield "ne-wraps", gguf([info(ne=(2**32, 2**31))])
    yield "ne-bytes-wrap", gguf([info(ne=(2**61, 2))])
    yield "ne-beyond", gguf([info(ne=(4, 2**42 + 1))])
    yield "block", gguf([info(ne=(33, 1), kind=2)])
    yield "offset-unaligned", gguf([info(offset=4)])
    yield "offset-beyond", gguf([info(offset=2**63)])
    yield "offset-gap", gguf([info(offset=32)], data=bytes(96))
    yield "offset-overlap", gguf([good, info("output.weight")])
    yield "no-data", gguf([good], data=b"")
    number = lambda n: struct.pack("<H", n)
    split = [pair("split.no", 2, number(1)), pair("split.count", 2, number(2))]
    yield "split-other-part", gguf([good], split)


# NumPy ---------------------------------------------------------------------------------------------------------------

def npy(header, data=F32, version=(1, 0), length=None):
    raw = header if isinstance(header, bytes) else header.encode()
    size = len(raw) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + raw + data


def npy_faults():
    plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
    for version in ((0, 0), (1, 1), (4, 0)):
        yield f"version-{version[0]}-{version[1]}", npy(plain, version=version)
    yield "length-beyond", npy(plain, length=60000)
    yield "length-huge", npy(plain, version=(2, 0), length=2**32 - 1)
    yield "header-long", npy(plain + " " * 10000)
    yield "no-literal", npy("{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (3, 2)}")
    yield "no-dict", npy("('<f4', False, (3, 2))")
    yield "unfinished", npy(plain[:-1])
    yield "missing-key", npy("{'descr': '<f4', 'shape': (3, 2)}")
    yield "extra-key", npy(plain[:-1] + "'more': 1}")
    yield "order", npy(plain.replace("False", "0"))
    yield "shape-list", npy(plain.replace("(3, 2)", "[3, 2]"))
    yield "shape-number", npy(plain.replace("(3, 2)", "(6)"))
    yield "shape-negative", npy(plain.replace("(3, 2)", "(-3, 2)"))
    yield "shape-wraps", npy(plain.replace("(3, 2)", "(4294967296, 4294967296)"))
    yield "shape-bytes-wrap", npy(plain.replace("(3, 2)", "(4611686018427387904, 2)"))
    yield "shape-rank", npy(plain.replace("(3, 2)", "(" + "1, " * 40 + ")"))
    yield "deep", npy(plain.replace("(3, 2)", "(" * 4000))
    yield "short", npy(plain, F32[:-1])
    yield "nul", npy(plain.replace("<f4", "<f4\0"))
    yield "no-utf8", npy(plain.encode().replace(b"<f4", b"\xff"), version=(3, 0))
    yield "long-in-3", npy(plain.replace("(3, 2)", "(3L, 2)"), version=(3, 0))
    for descr in ("|O", "<c16", "<f16", "|S3", "<U3", "|V4", "<M8", "<f3", "", "f"):
        yield "descr-" + (descr.strip("<|") or "none"), npy(plain.replace("<f4", descr), F32[:7])
    yield "record", npy(plain.replace("'<f4'", "[('a', '<f4')]"))


# Zip archives: .npz and PyTorch --------------------------------------------------------------------------------------

def zipped(members, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, data in members:
            made.writestr(zipfile.ZipInfo(name), data, method)
    return out.getvalue()


def patched(data, signature, at, raw, which=0):
    """raw over the bytes at `at` behind the which-th signature."""
    place = -1
    for _ in range(which + 1):
        place = data.index(signature, place + 1)
    return data[: place + at] + raw + data[place + at + len(raw):]


LOCAL, CENTRAL, END = b"PK\3\4", b"PK\1\2", b"PK\5\6"


def zip_faults():
    plain = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
    good = zipped([("a.npy", npy(plain)), ("b.npy", npy(plain))])
    yield "cut", good[:-1]
    yield "cut-in-the-middle", good[: len(good) // 2]
    yield "junk-before", b"junk" + good
    yield "volumes", patched(good, END, 4, b"\1\0")
    yield "entries-more", patched(good, END, 8, b"\3\0\3\0")
    yield "entries-fewer", patched(good, END, 8, b"\1\0\1\0")
    yield "directory-beyond", patched(good, END, 16, struct.pack("<I", 2**31))
    yield "directory-size", patched(good, END, 12, struct.pack("<I", 7))
    yield "zip64-without", patched(good, END, 16, b"\xff" * 4)
    yield "encrypted", patched(good, CENTRAL, 8, b"\1\0")
    yield "method", patched(patched(good, CENTRAL, 10, b"\x0c\0"), LOCAL, 8, b"\x0c\0")
    yield "size-beyond", patched(good, CENTRAL, 20, struct.pack("<II", 2**31, 2**31))
    yield "sizes-differ", patched(good, CENTRAL, 24, struct.pack("<I", 12))
    yield "offset-beyond", patched(good, CENTRAL, 42, struct.pack("<I", 2**31))
    yield "overlap", patched(good, CENTRAL, 42, struct.pack("<I", 0), 1)
    yield "local-header", patched(good, LOCAL, 0, b"XXXX")
    yield "twice", good.replace(b"b.npy", b"a.npy")
    yield "name-no-utf8", good.replace(b"b.npy", b"\xff.npy")
    packed = zipped([("a.npy", npy(plain))], zipfile.ZIP_DEFLATED)
    at = packed.index(CENTRAL)
    yield "deflate-broken", packed[:45] + bytes([packed[45] ^ 0xff]) + packed[46:at] + packed[at:]
    yield "deflate-more", patched(packed, CENTRAL, 24, struct.pack("<I", 20))
    yield "deflate-less", patched(packed, CENTRAL, 24, struct.pack("<I", 2000))
    yield "crc", patched(packed, CENTRAL, 16, b"\1\2\3\4")
    yield "member-is-broken", zipped([("a.npy", npy(plain)[:-1])])
    huge = plain.replace("(3, 2)", "(50000000, 4)")
    bomb = zipped([("a.npy", npy(huge, bytes(10**8)))], zipfile.ZIP_DEFLATED)
    yield "bomb", bomb
    yield "of-something-else", zipped([("readme.txt", b"hello")])
    yield "empty", zipped([])


def pickled(*parts):
    return b"\x80\2" + b"".join(p if isinstance(p, bytes) else word(p) for p in parts) + b"."


def word(name):
    return b"X" + struct.pack("<I", len(name)) + name.encode()


def integer(n):
    if -2**31 <= n < 2**31:
        return b"J" + struct.pack("<i", n)
    raw = n.to_bytes((n.bit_length() + 8) // 8, "little", signed=True)
    return b"\x8a" + bytes([len(raw)]) + raw


def tensor(key="0", count=6, offset=0, size=(3, 2), stride=(2, 1), storage="torch\nFloatStorage"):
    """Opcodes that leave a tensor on the stack."""
    storage_id = b"(" + word("storage") + b"c" + storage.encode() + b"\n" + word(key) + word("cpu") + integer(count) + b"tQ"
    sizes = b"(" + b"".join(map(integer, size)) + b"t"
    strides = b"(" + b"".join(map(integer, stride)) + b"t"
    hooks = b"ccollections\nOrderedDict\n)R"
    return b"ctorch._utils\n_rebuild_tensor_v2\n(" + storage_id + integer(offset) + sizes + strides + b"\x89" + hooks + b"tR"


def torch(pickle, *members):
    more = members or (("data/0", F32),)
    return zipped([("archive/data.pkl", pickle)] + [("archive/" + n, d) for n, d in more] + [("archive/version", b"3\n")])


def state(**tensors):
    return pickled(b"}", *(part for name, ops in tensors.items() for part in (word(name), ops, b"s")))


def torch_faults():
    yield "imports", torch(pickled(b"cposix\nsystem\n", b"(", word("true"), b"tR"))
    yield "builtins", torch(pickled(b"c__builtin__\neval\n", b"(", word("1"), b"tR"))
    yield "module", torch(pickled(b"ctorch.nn.modules.sparse\nEmbedding\n)\x81"))
    yield "opcode", torch(b"\x80\2\xf0.")
    yield "no-stop", torch(b"\x80\2}")
    yield "stack-empty", torch(b"\x80\2.")
    yield "stack-below", torch(b"\x80\2s.")
    yield "no-mark", torch(b"\x80\2t.")
    yield "memo", torch(b"\x80\2h\7.")
    yield "text-beyond", torch(b"\x80\2X" + struct.pack("<I", 2**31))
    yield "long-text", torch(b"\x80\2\x8d" + struct.pack("<Q", 2**63))
    yield "protocol", torch(b"\x80\x09}.")
    yield "marks", torch(b"\x80\2" + b"(" * 200000 + b".")
    yield "depth", torch(b"\x80\2" + b"]" * 100000 + b"a" * 99999 + b".")
    yield "recursion", torch(b"\x80\2}q\0" + word("a") + b"h\0s.")
    yield "a-number", torch(pickled(integer(3)))
    yield "same-name", torch(pickled(b"}", word("a"), tensor(), b"s", word("a"), tensor(offset=1, size=(1, 2)), b"s"))
    yield "stride-beyond", torch(state(a=tensor(stride=(3, 1))))
    yield "stride-negative", torch(state(a=tensor(stride=(-2, 1))))
    yield "stride-wraps", torch(state(a=tensor(stride=(2**62, 1))))
    yield "offset-beyond", torch(state(a=tensor(offset=1)))
    yield "offset-negative", torch(state(a=tensor(offset=-1)))
    yield "offset-wraps", torch(state(a=tensor(offset=2**63 - 1)))
    yield "size-negative", torch(state(a=tensor(size=(-3, 2))))
    yield "size-wraps", torch(state(a=tensor(size=(2**40, 2**40), stride=(0, 0))))
    yield "rank", torch(state(a=tensor(size=(1,) * 40, stride=(1,) * 40)))
    yield "ranks-differ", torch(state(a=tensor(stride=(1,))))
    yield "storage-type", torch(state(a=tensor(storage="torch\nQInt8Storage")))
    yield "storage-missing", torch(state(a=tensor(key="7")))
    yield "storage-short", torch(state(a=tensor()), ("data/0", F32[:-4]))
    yield "storage-count", torch(state(a=tensor(count=2**61)))
    yield "storage-path", torch(state(a=tensor(key="../version")))
    yield "no-pickle", zipped([("archive/version", b"3\n"), ("archive/data/0", F32)])
    yield "two-folders", zipped([("archive/data.pkl", state(a=tensor())), ("other/data/0", F32), ("archive/version", b"3\n")])
    yield "no-folder", zipped([("data.pkl", state(a=tensor())), ("data/0", F32), ("version", b"3\n")])
    yield "script", torch(state(a=tensor()), ("data/0", F32), ("constants.pkl", b"\x80\2)."))
    yield "byteorder", torch(state(a=tensor()), ("data/0", F32), ("byteorder", b"middle"))
    legacy = (DATA / "torch" / "legacy.pt").read_bytes()
    yield "legacy-cut", legacy[:-3]
    yield "legacy-version", legacy.replace(b"M\xe9\x03.", b"M\xe8\x03.", 1)
    yield "legacy-hostile", (DATA / "torch" / "hostile-legacy.pt").read_bytes()
    tar = (DATA / "torch" / "views-tar.pt").read_bytes()
    yield "tar-checksum", tar[:148] + b"0000000\0" + tar[156:]
    yield "tar-cut", tar[:1500]


# Word vectors --------------------------------------------------------------------------------------------------------

def record(token, numbers):
    return token + b" " + struct.pack(f"<{len(numbers)}f", *numbers)


def words_faults():
    two = record(b"a", (1, 2, 3)) + record(b"b", (4, 5, 6))
    yield "binary-short", b"3 3\n" + two
    yield "binary-long", b"1 3\n" + two
    yield "binary-counts", b"4000000000 4000000000\n" + two
    yield "binary-wraps", b"18446744073709551615 18446744073709551615\n" + two
    yield "binary-no-word", b"2 3\n" + record(b"a", (1, 2, 3)) + b"x" * 13
    yield "binary-line-end", b"2 3\n" + record(b"a", (1, 2)) + b"\n" + record(b"b", (4, 5, 6)) + bytes(3)
    yield "text-fewer", b"3 2\na 1 2\nb 3 4\n"
    yield "text-more", b"1 2\na 1 2\nb 3 4\n"
    yield "text-too-few", b"2 3\na 1 2 3\nb 3 4\n"
    yield "text-counts", b"18446744073709551616 2\na 1 2\n"
    yield "text-hostile-counts", b"4000000000000 4000000000000\na 1 2\n"
    yield "text-long-number", b"a 1 2\nb 3 " + b"1" * 5000 + b"\n"
    yield "text-long-line", b"1 3\na " + b"1" * (17 << 20)
    yield "csv-fields", b"a,1,2\nb,3\n"
    yield "gz-cut", gzip.compress(b"2 2\na 1 2\nb 3 4\n")[:-9]
    yield "gz-checksum", patched(gzip.compress(b"2 2\na 1 2\nb 3 4\n"), b"\x1f\x8b", len(gzip.compress(b"2 2\na 1 2\nb 3 4\n")) - 8, b"abcd")
    yield "gz-of-nothing", gzip.compress(b"")
    yield "gz-of-gz", gzip.compress(gzip.compress(b"2 2\na 1 2\nb 3 4\n"))
    yield "gz-bomb", gzip.compress(b"2 2\na 1 2\n" + bytes(80 << 20))


def fasttext_faults():
    good = (DATA / "fasttext" / "m.bin").read_bytes()
    put = lambda at, kind, value: good[:at] + struct.pack("<" + kind, value) + good[at + struct.calcsize(kind):]
    yield "version", put(4, "i", 13)
    for at, name in ((8, "dim"), (40, "bucket"), (44, "minn"), (48, "maxn")):
        yield name, put(at, "i", -5)
        if name != "minn":  # above maxn: no n-grams
            yield name + "-huge", put(at, "i", 2**31 - 1)
    yield "size", put(64, "i", 2**31 - 1)
    yield "words", put(68, "i", -1)
    yield "labels", put(72, "i", 5)
    yield "pruned", put(84, "q", 2**62)
    yield "word-without-end", good[:92] + b"x" * 300
    yield "quantised-flag", (DATA / "fasttext" / "whole.ftz").read_bytes()[:-20]
    for part in (3, 5, 8):
        yield f"cut-{part}", good[: len(good) * part // 9]
    ftz = (DATA / "fasttext" / "cut.ftz").read_bytes()
    yield "ftz-cut", ftz[: len(ftz) // 2]


# Files beside the tensors ---------------------------------------------------------------------------------------------

def vocab_faults():
    yield "no-json", b'{"a": 0,}'
    yield "cut", b'{"a": 0, "b'
    yield "no-utf8", b'{"\xff": 0}'
    yield "surrogate", b'{"\\ud800": 0}'
    yield "control", b'{"a\n": 0}'
    yield "negative", b'{"a": -1}'
    yield "fraction", b'{"a": 0.5}'
    yield "text", b'{"a": "0"}'
    yield "huge", b'{"a": 4000000000}'
    yield "wraps", b'{"a": 18446744073709551616}'
    yield "hole", b'{"a": 0, "b": 16777215}'
    yield "one-id", b'{"a": 5, "b": 5}'
    yield "list", b'["a", "b"]'
    yield "none", b"{}"
    yield "deep", b'{"a": ' + b"[" * 100000
    yield "long-token", b'{"' + b"a" * (1 << 20) + b'a": 0}'


def tokenizer_faults():
    yield "no-json", b"{'model': 1}"
    yield "mark", b'\xef\xbb\xbf{"model": {"vocab": {"a": 0}}}'
    yield "after", b'{"model": {"vocab": {"a": 0}}} {}'
    yield "version", b'{"version": "2.0", "model": {"vocab": {"a": 0}}}'
    yield "no-model", b'{"version": "1.0"}'
    yield "no-vocab", b'{"model": {"type": "BPE"}}'
    yield "piece", b'{"model": {"type": "Unigram", "vocab": [["a"]]}}'
    yield "score", b'{"model": {"type": "Unigram", "vocab": [["a", "b"]]}}'
    yield "added-no-text", b'{"added_tokens": [{"id": 0}], "model": {"vocab": {"a": 0}}}'
    yield "added-no-id", b'{"added_tokens": [{"content": "x"}], "model": {"vocab": {"a": 0}}}'
    for name, vocab in vocab_faults():
        yield name + "-in-vocab", b'{"model": {"type": "BPE", "vocab": ' + vocab + b"}}"


def piece(raw, kind=1):
    body = b"\x0a" + bytes([len(raw)]) + raw + b"\x18" + bytes([kind])
    return b"\x0a" + bytes([len(body)]) + body


def sentencepiece_faults():
    unknown = piece(b"<unk>", 2)
    yield "no-unknown", piece(b"a") + piece(b"b")
    yield "two-unknown", unknown + piece(b"<u>", 2)
    yield "twice", unknown + piece(b"a") + piece(b"a")
    yield "no-text", unknown + piece(b"")
    yield "kind", unknown + piece(b"a", 9)
    yield "length", unknown + b"\x0a\xff\xff\xff\xff\x0f"
    yield "number", unknown + b"\x0a" + b"\xff" * 11
    yield "wire", unknown + b"\x0f\0"
    yield "cut", (unknown + piece(b"abc"))[:-2]
    yield "bytes-alone", unknown + piece(b"<0x41>", 6)
    yield "ranks", b"IQ== 0\nIg== 1\nIw== 2\n"


def config_faults():
    yield "no-json", b"{'vocab_size': 3}"
    yield "cut", b'{"vocab_size": 3'
    yield "list", b"[]"
    yield "deep", b'{"a": ' + b"[" * 100000
    yield "mark", b"\xef\xbb\xbf{}"
    yield "no-utf8", b'{"a": "\xff"}'
    for key, value in (("vocab_size", "-3"), ("vocab_size", "1.5"), ("vocab_size", "1e30"), ("hidden_size", '"2"'),
                       ("pad_token_id", '"x"'), ("eos_token_id", "[null]"), ("tie_word_embeddings", '"no"'),
                       ("model_type", "3"), ("architectures", "3"), ("scale_emb", "NaN"), ("scale_emb", "1e999")):
        clean = "".join(c if c.isalnum() else "_" for c in value)
        yield f"{key}-{clean}", f'{{"{key}": {value}}}'.encode()


def index_faults():
    here = b'{"weight_map": {"embedding.weight": "%s"}}'
    yield "no-map", b'{"metadata": {}}'
    yield "map-list", b'{"weight_map": []}'
    yield "map-empty", b'{"weight_map": {}}'
    yield "file-number", b'{"weight_map": {"embedding.weight": 3}}'
    yield "twice", b'{"weight_map": {"a": "t.safetensors", "a": "t.safetensors"}}'
    yield "two-maps", b'{"weight_map": {"embedding.weight": "t.safetensors"}, "weight_map": {}}'
    yield "missing", here % b"gone.safetensors"
    yield "above", here % b"../t.safetensors"
    yield "absolute", here % b"/etc/passwd"
    yield "itself", here % b"model.safetensors.index.json"
    yield "nul", here % b"t\\u0000.safetensors"
    yield "nowhere", b'{"weight_map": {"other": "t.safetensors"}}'
    yield "no-json", b'{"weight_map": {'


def llmc(version=3, positions=3, vocab=5, layers=1, heads=1, width=2, padded=8, more=0):
    numbers = (padded + positions + 2) * width + layers * (12 * width * width + 13 * width)
    return struct.pack("<256i", 20240326, version, positions, vocab, layers, heads, width, padded, *[0] * 248) + bytes(4 * numbers + more)


def llmc_faults():
    yield "header", llmc()[:1000]
    yield "version", llmc(version=1)
    yield "cut", llmc()[:-1]
    yield "longer", llmc(more=4)
    yield "zero", llmc(layers=0)
    yield "negative", llmc()[:12] + b"\xff" * 4 + llmc()[16:]
    yield "padded", llmc(vocab=9)
    yield "huge", llmc()[:8] + b"\xff\xff\xff\x7f" * 6 + llmc()[32:]


def params_faults():
    yield "no-json", b'{"dim": 2'
    yield "list", b"[2]"
    yield "more", b"{} {"


def folders():
    """Names, files and their bytes of folders of which one file is broken; t.safetensors is whole in each."""
    whole = {"t.safetensors": safetensors({"embedding.weight": entry()})}
    kinds = (("vocab.json", vocab_faults), ("tokenizer.json", tokenizer_faults), ("tokenizer.model", sentencepiece_faults),
             ("config.json", config_faults), ("params.json", params_faults), ("model.safetensors.index.json", index_faults))
    for file, faults in kinds:
        for fault, data in faults():
            yield f"{file}-{fault}", whole | {file: data}, file
    yield "vocab.txt-no-utf8", whole | {"vocab.txt": b"a\nb\xff\n"}, "vocab.txt"
    yield "vocab.txt-nul", whole | {"vocab.txt": b"a\nb\0\n"}, "vocab.txt"


FORMATS = {
    "safetensors": safetensors_faults,
    "gguf": gguf_faults,
    "npy": npy_faults,
    "zip": zip_faults,
    "torch": torch_faults,
    "words": words_faults,
    "fasttext": fasttext_faults,
    "llmc": llmc_faults,
}


def broken():
    for path in sorted((DATA / "bad").iterdir()):
        yield path.name, path.read_bytes()
    for name, faults in FORMATS.items():
        for fault, data in faults():
            yield f"{name}-{fault}", data


def damaged(each):
    """Small whole files with a piece cut off, a byte changed, or eight bytes set to ones; `each` of every kind a file."""
    noise = random.Random(11)
    for folder in ("npy", "gguf", "torch", "fasttext", "spm"):
        for path in sorted((DATA / folder).iterdir()):
            data = path.read_bytes()
            if path.suffix == ".txt" or not 16 < len(data) < 1 << 20:
                continue
            for turn in range(each):
                at = noise.randrange(len(data))
                yield f"{path.name}-{turn}-cut", data[:at]
                yield f"{path.name}-{turn}-bit", data[:at] + bytes([data[at] ^ 1 << turn % 8]) + data[at + 1:]
                yield f"{path.name}-{turn}-ones", data[:at] + b"\xff" * 8 + data[at + 8:]
