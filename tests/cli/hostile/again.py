"""Checkpoints of some 70 KB in which one long text, tuple or dict is used again and again, and one that is as long by right.

usage: again.py   (writes *.pt and legacy.bin into the current folder)
"""
import struct
import zipfile


def text(data):
    return b"X" + struct.pack("<I", len(data)) + data


def write(name, pickle):
    with zipfile.ZipFile(name, "w") as z:
        z.writestr("archive/data.pkl", pickle)


LONG = text(b"k" * 65000) + b"q\x000"
TWICE = b"}(" + b"h\x00K\x01" * 1000 + b"uq\x010" + b"](" + b"h\x01" * 3990 + b"e."
write("dict_of_long_keys.pt", b"\x80\x02" + LONG + TWICE)
write("one_dict.pt", b"\x80\x02" + LONG + b"}" + (b"(" + b"h\x00K\x01" * 4000 + b"u") * 2 + b".")
with open("legacy.bin", "wb") as file:
    file.write(b"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.")
    file.write(b"\x80\x02}q\x00(X\x10\x00\x00\x00protocol_versionq\x01M\xe9\x03X\x0d\x00\x00\x00little_endianq\x02\x88u.")
    file.write(b"\x80\x02" + LONG + TWICE + b"\x80\x02].")
# a storage whose key is long, named again and again
STORAGE = b"(" + text(b"storage") + b"ctorch\nFloatStorage\n" + b"h\x00" + text(b"cpu") + b"K\x06tq\x010"
write("storage_of_a_long_key.pt", b"\x80\x02" + LONG + STORAGE + b"h\x01Q0" * 20000 + b"}.")
# a tuple of 20,000 arguments, called again and again
write("long_arguments.pt", b"\x80\x02" + b"(" + b"N" * 20000 + b"tq\x000" + b"ccollections\nCounter\nq\x010" +
      b"h\x01h\x00R0" * 20000 + b"}.")
# the tensors of one dict under 1,000 long names: 64 MiB of names out of 70 KB
TENSOR = (b"ctorch._utils\n_rebuild_tensor_v2\n((" + text(b"storage") + b"ctorch\nFloatStorage\n" + text(b"0") + text(b"cpu") +
          b"K\x06tQK\x00(K\x03K\x02t(K\x02K\x01t\x89ccollections\nOrderedDict\n)RtRq\x010")
write("long_names.pt", b"\x80\x02" + LONG + TENSOR + b"](" + (b"}h\x00h\x01s") * 1000 + b"e.")
# one dict in itself, under the name of a container
write("dict_in_itself.pt", b"\x80\x02}q\x00(" + b"NN" * 100000 + text(b"model") + b"h\x00" + b"u.")
