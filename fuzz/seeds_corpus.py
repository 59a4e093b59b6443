"""Seeds of the corpus target: a byte of options (type of ids, lines, least count), one of the number of words, one of how
it is read, then the file."""
import struct

TEXT, U16, I32, U32, I64 = range(5)


def how(kind, no_lines=0, least=0, words=1, reading=0):
    return bytes([kind + 5 * no_lines + 10 * least, words, reading])


def npy(descr, data, shape):
    text = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + data


def seeds_corpus():
    text = b"the cat eats fish\nthe dog eats meat\n\nthe end"
    yield "text", how(TEXT) + text
    yield "parts", how(TEXT, reading=6) + text
    yield "no_lines", how(TEXT, no_lines=1, reading=30) + text
    yield "least", how(TEXT, least=2, reading=5) + text
    yield "most", how(TEXT, words=16, reading=17) + text
    yield "bytes", how(TEXT, reading=4) + b"a\xff \0b\x80\x80\v\xc3\xa9\f\r\n\xf0\x9f\x98\x80 </s> </s\n>"
    yield "empty", how(TEXT)
    yield "lines", how(TEXT) + b"\n\n \n"
    yield "long", how(TEXT) + b"w" * 4096 + b" " + b"v" * 4097
    yield "u16", how(U16, reading=9) + struct.pack("<6H", 3, 1, 3, 2, 9, 3)
    yield "i32", how(I32, reading=2) + struct.pack("<4i", 3, 1, 3, 2)
    yield "negative", how(I32) + struct.pack("<3i", 3, -100, 1)
    yield "large", how(U32) + struct.pack("<2I", 3, 4294967295)
    yield "i64", how(I64, reading=3) + struct.pack("<3q", 0, 7, 0)
    yield "odd", how(I64) + b"\0\0\0"
    yield "npy", how(TEXT, reading=5) + npy("<u2", struct.pack("<4H", 5, 4, 5, 1), (2, 2))
    yield "npy_float", how(TEXT) + npy("<f4", bytes(16), (4,))
    yield "npy_short", how(TEXT) + npy("<i8", bytes(8), (4,))
