"""Seeds of the word2vec target: whole files; two bytes of counts and then records."""
import struct


def record(word, values, end=b"\n"):
    return word + b" " + struct.pack(f"<{len(values)}f", *values) + end


def seeds_word2vec():
    two = record(b"</s>", (1.5, -2)) + record(b"the", (0.25, 3))
    yield "lines", b"2 2\n" + two
    yield "no_lines", b"2 2\n" + record(b"in", (1, 2), b"") + record(b"of\xff", (3, 4), b"")
    yield "mixed", b"3 2\n" + record(b"a", (1, 2)) + record(b"b", (3, 4), b"") + record(b"c", (5, 6))
    yield "short", b"2 2\n" + two[:-5]
    yield "more", b"1 2\n" + two
    yield "nul", b"2 1\n" + record(b"a", (1,)) + record(b"b\0c", (2,))
    yield "counts", b"999999999 999999999\n\0\0"
    yield "none", b"0 3\n\0"
    yield "records", b"\x02\x02" + two
    yield "one_number", b"\x03\x01" + record(b"x", (1,)) + record(b"", (2,)) + record(b"x", (3,), b"")
