"""Seeds of the kinds target: the start of a file of each family of evidence."""
import json
import pickle
import struct
import zlib


def seeds_kinds():
    yield "s1", b"PAR1" + bytes(20) + b"PAR1"
    yield "s2", b"ARROW1\0\0" + bytes(40)
    yield "s3", bytes(512) + b"\x89HDF\r\n\x1a\n" + bytes(20)
    yield "s4", b"\x08\x07\x12\x07pytorch\x1a\x031.9:\x04\n\0\n\0"
    yield "s5", b"\n\x0c\n\x03emb\x12\x05Const\x12\0"
    yield "s6", b"\n\x09\x12\x07\n\x05\n\x03Add\x10\1"
    yield "s7", b"\n\x0c\n\x05<unk>\x15" + bytes(4)
    yield "s8", b"\x08\x96\1\x10\2\x18\3 \4(\5"
    yield "s9", b"\x81\xa3wte\xc7\x0c\1\x93\x92\1\1\xa7float32\xc4\4"
    yield "s10", b"\x82\xcf\1\2\3\4\5\6\7\x08\0\xcf"
    yield "s11", pickle.dumps({"a": [1.5]}, 0)
    yield "s12", pickle.dumps({"a": [1.5]}, 4)
    yield "s13", zlib.compress(b"x" * 40)
    yield "s14", "the word".encode("utf-16")
    yield "s15", b'<?xml version="1.0"?><net name="m"><layers>'
    yield "s16", b'{"a": "}{\\""}\n{"a": 1}\n'
    yield "s17", json.dumps([[1.5, 2], [3, 4]]).encode()
    yield "s18", b"[training]\nlr = 0.1\n"
    yield "s19", struct.pack("<IH", 6, 16) + b"TransformerSpec\0" + struct.pack("<IIH", 7, 1, 26) + b"decoder"
    yield "s20", struct.pack("<6Q", 0, 10, 2, 44, 36, 8) + bytes(200)
    yield "s21", b"\5\0\0\0\0\0\0\0\xea\xb2\x04\x3ehello\0\0\0\0"
    yield "s22", b"pq.bin" + bytes(251) + b"ustar" + bytes(300)
