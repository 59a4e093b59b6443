# Two tables side by side in one file: id = rows of the first never reads the second, in any format and by any command.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
header = ('{"a.weight":{"dtype":"F32","shape":[3,2],"data_offsets":[0,24]},'
          '"b.weight":{"dtype":"F32","shape":[3,2],"data_offsets":[24,48]}}')
raw_safetensors("m.safetensors", header.encode(), f32(table(6, 2)))
block = lambda first: struct.pack("<e32b", 1, *range(first, first + 32))
rows = lambda first: b"".join(block(first + i) for i in range(3))
gguf("m.gguf", [("token_embd.weight", [32, 3], 8, rows(0)), ("output.weight", [32, 3], 8, rows(50))])
END
for id in 3 -1 4294967296 9223372036854775807 -9223372036854775808; do run wte lookup m.safetensors --tensor a.weight $id; done
for command in trace near; do run wte $command m.safetensors --tensor a.weight 3; done
run wte diagnose m.safetensors --tensor a.weight --id 3 --observed 31,32
run wte lookup m.safetensors --tensor a.weight 2 --json | grep vector
for command in lookup trace near; do run wte $command m.gguf 3; done
wte lookup m.gguf 2 | tail -1
