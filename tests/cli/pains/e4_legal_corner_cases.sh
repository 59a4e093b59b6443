# Empty tensors, scalars, a length that looks like zlib's first bytes: all legal.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
safetensors("empty.safetensors", {"none": ("F32", [0, 4], b""), "one": ("F32", [], f32([[5.0]])), EMBED: tensor(table(6, 4))})
data = f32(table(6, 4))
header = f'{{"{EMBED}":{{"dtype":"F32","shape":[6,4],"data_offsets":[0,96]}}}}'.encode()
# 0x9c78 = 40056 = 8 x 5007
raw_safetensors("zlib.safetensors", header + b" " * (40056 - len(header)), data)
raw_safetensors("gzip.safetensors", header + b" " * (0x088b1f - len(header)), data, 0x088b1f)
whole = pathlib.Path("gzip.safetensors").read_bytes()
pathlib.Path("gzip.safetensors").write_bytes(whole[:8 + 0x088b1f] + data)
raw_safetensors("nothing.safetensors", b"{}")
END
for m in empty zlib gzip; do run wte lookup $m.safetensors 5; done
for m in zlib gzip; do od -An -tx1 -N4 $m.safetensors; done
run wte lookup empty.safetensors --tensor none 0
run wte inspect nothing.safetensors
