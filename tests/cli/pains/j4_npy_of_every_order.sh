# Column order, both byte orders, spaces and the order of keys; objects are never read.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
def npy(name, text, data, version=1):
    raw = text.encode()
    raw += b" " * (-(len(raw) + 11) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(raw))
    pathlib.Path(name).write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + raw + data)

six = (0, 1, 2, 10, 11, 12)
columns = (0, 10, 1, 11, 2, 12)
npy("columns.npy", "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", struct.pack("<6f", *columns))
npy("big.npy", "{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }", struct.pack(">6f", *six))
npy("loose.npy", '{ "shape":(2,3) ,"fortran_order" :False,  "descr":"<f4"}', struct.pack("<6f", *six), 2)
npy("objects.npy", "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }", b"")
npy("short.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", bytes(20))
npy("hostile.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", b"")
END
for m in columns big loose objects short hostile; do run wte lookup $m.npy 0 1; done
