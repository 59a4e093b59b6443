# A slice drags its whole storage: used against stored bytes, who shares a storage, strides, what is stored twice.
. "$DATA/../cli/lib.sh"
PYTHONPATH="$DATA/../../fuzz" python3 -B - << 'END'
from seeds_pickle import tensor, text
from seeds_zip import archive, deflated

def state(tensors):
    return b"\x80\x02}(" + b"".join(text(name) + t for name, t in tensors) + b"u."

few = tensor((4,), (1,), 10, count=1000)
column = tensor((100,), (10,), 3, count=1000)
views = state([("few", few), ("column", column), ("fortran", tensor((2, 3), (1, 2), key="1", count=6))])
files = [("a/data.pkl", views), ("a/data/0", bytes(4000)), ("a/data/1", bytes(24))]
open("slice.pt", "wb").write(archive(files))
open("packed.pt", "wb").write(deflated(files))
table = tensor((6, 4), (4, 1))
tied = state([("wte.weight", table), ("lm_head.weight", table), ("copy", tensor((6, 4), (4, 1), key="1"))])
data = [("a/data/0", bytes(range(96))), ("a/data/1", bytes(range(96))), ("a/byteorder", b"big")]
open("tied.pt", "wb").write(archive([("a/data.pkl", tied)] + data))
END
run wte inspect slice.pt --all
run wte inspect packed.pt --all
run wte inspect tied.pt --all
run wte inspect slice.pt --all --json | sed -n '/"tensors"/,$p'
