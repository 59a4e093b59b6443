"""Seeds of the zip target: archives as Python writes them, plain and wide, whole and broken."""
import io
import struct
import zipfile


class Pipe(io.BytesIO):
    """Cannot go back, so that sizes follow the data."""

    def seekable(self):
        return False

    def seek(self, *_):
        raise OSError("a pipe")


def archive(members, method=zipfile.ZIP_STORED, out=None, wide=False, comment=b""):
    out = out or io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as z:
        z.comment = comment
        for name, data in members:
            with z.open(zipfile.ZipInfo(name), "w", force_zip64=wide) as f:
                f._compress_type = method
                f.write(data)
    return out.getvalue()


def deflated(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members:
            z.writestr(name, data)
    return out.getvalue()


TWO = [("a/one", b"hello, hello, hello, hello"), ("two", bytes(300))]


def wide_end(plain):
    """With a zip64 end record before the usual one."""
    at = plain.rindex(b"PK\5\6")
    count, size, start = struct.unpack_from("<10xHII", plain, at)
    record = b"PK\6\6" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, start)
    locator = b"PK\6\7" + struct.pack("<IQI", 0, at, 1)
    end = b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return plain[:at] + record + locator + end


def seeds_zip():
    plain, packed = archive(TWO), deflated(TWO)
    yield "stored", plain
    yield "deflated", packed
    yield "streamed", archive(TWO, out=Pipe())
    yield "wide", archive(TWO, wide=True)
    yield "wide_end", wide_end(plain)
    yield "comment", archive(TWO, comment=b"PK\5\6 comment")
    yield "empty", archive([])
    yield "twice", plain.replace(b"two", b"one").replace(b"a/one", b"a-one")
    yield "cut", plain[:-30]
    yield "junk", b"#!/bin/sh\n" + plain
    yield "more", packed.replace(struct.pack("<I", 300), struct.pack("<I", 290))
    yield "bomb", packed.replace(struct.pack("<I", 300), struct.pack("<I", 0x7FFFFFFF))
    yield "method", packed.replace(b"\x08\0\0\0!\0", b"\x0e\0\0\0!\0")
