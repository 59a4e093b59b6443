"""Seeds of the .npy target: whole files; and a byte of version, a header, two bytes that say how much data follows."""
import struct


def file_of(version, text, data=b""):
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


def header_of(version, text, n_data):
    return bytes([version - 1]) + text + struct.pack("<H", n_data)


def usual(descr, shape, order=False):
    return f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}".encode()


def seeds_npy():
    yield "numpy", file_of(1, usual("<f4", (2, 3)).ljust(117) + b"\n", bytes(range(24)))
    yield "version2", file_of(2, usual("<f4", (2, 3)), bytes(24))
    yield "version3", file_of(3, usual("<f4", (2, 3)) + " # é".encode(), bytes(24))
    for descr in ["<f2", ">f8", "|i1", ">i2", "<u4", "|b1", ">c8", "|O", "<U3", "<M8[s]", "|V2", "<c16", "float32", "?"]:
        yield "type" + "".join(c if c.isalnum() else f"{ord(c):x}" for c in descr), header_of(1, usual(descr, (4, 5)), 160)
    yield "fortran", header_of(1, usual("<i2", (7, 3), True), 42)
    yield "fortran_big", header_of(2, usual(">f4", (3, 1, 5), True), 60)
    yield "scalar", header_of(1, usual("<f8", ()), 8)
    yield "vector", header_of(1, usual("<i8", (9,)), 72)
    yield "nothing", header_of(1, usual("<f4", (0, 4)), 0)
    yield "three", header_of(1, usual("<f4", (2, 3, 4)), 96)
    yield "spelling", header_of(2, b" {\n# a comment }\n\"shape\":(0x2,0b1_1,),u'descr' : '<f4','fortran_order':False}\t\r\n", 24)
    yield "long", header_of(1, b"{'descr':'<f4','fortran_order':False,'shape':(2L,3L)}", 24)
    yield "twice", header_of(1, b"{'descr':'<f4','fortran_order':False,'shape':(9,),'shape':(1,)}", 4)
    yield "no_tuple", header_of(1, b"{'descr':'<f4','fortran_order':False,'shape':(12)}", 48)
    yield "list", header_of(1, b"{'descr':'<f4','fortran_order':False,'shape':[2,3]}", 24)
    yield "records", header_of(1, b"{'descr':[('a','<f4')],'fortran_order':False,'shape':(2,)}", 24)
    yield "negative", header_of(1, usual("<f4", (2, -3)), 24)
    yield "wraps", header_of(1, usual("<f4", (1 << 32, 1 << 32)), 24)
    yield "short", header_of(1, usual("<f4", (100, 100)), 24)
    yield "length", b"\x93NUMPY\x02\0\xff\xff\xff\xff{}"
    yield "version9", b"\x93NUMPY\x09\0\x02\0{}"
    yield "cut", b"\x93NUMPY\x01"
