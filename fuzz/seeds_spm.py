"""Seeds of the sentencepiece target: messages put together by hand, whole and with one fault each."""
import struct


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def number(field, value):
    return varint(field << 3) + varint(value)


def message(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def piece(text, kind=1, score=-1.0):
    text = text if isinstance(text, bytes) else text.encode()
    body = message(1, text) + varint(2 << 3 | 5) + struct.pack("<f", score)
    return message(1, body + (number(3, kind) if kind != 1 else b""))


UNKNOWN = piece("<unk>", 2)


def seeds_spm():
    usual = UNKNOWN + piece("<s>", 3) + piece("</s>", 3) + piece("▁the") + piece("▁") + piece("<mask>", 4) + piece("x", 5)
    trainer = message(2, number(3, 1) + number(4, 7) + number(35, 0) + number(40, 0))
    normalizer = message(3, message(1, b"identity") + number(3, 1) + number(5, 1))
    yield "usual", usual + trainer + normalizer
    yield "bytes", UNKNOWN + b"".join(piece(f"<0x{i:02X}>", 6) for i in range(256)) + message(2, number(35, 1))
    yield "plain", usual + message(3, number(5, 0))
    yield "unknown_fields", usual + number(99, 1 << 63) + varint(100 << 3 | 1) + bytes(8) + varint(101 << 3 | 5) + bytes(4) + message(102, b"x")
    yield "raw_text", UNKNOWN + piece(b"\xff\xfe") + piece(b"a\0b")
    yield "twice", usual + piece("▁the")
    yield "two_unknown", UNKNOWN + piece("u", 2)
    yield "no_unknown", piece("a")
    yield "no_text", UNKNOWN + piece("")
    yield "kind9", UNKNOWN + piece("a", 9)
    yield "byte_alone", UNKNOWN + piece("<0x0A>", 6)
    yield "byte_spelling", UNKNOWN + piece("<0x0a>", 6)
    yield "cut", usual[:-3]
    yield "long_number", b"\xff" * 10
    yield "group", b"\x0b"
    yield "length", b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
    yield "ranks", b"IQ== 0\nIg== 1\n"
    yield "nothing", b""
