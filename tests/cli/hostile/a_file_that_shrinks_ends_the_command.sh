# A file that another program cuts while it is read or mapped: exit code 3, and a message that names it.
if wte version --json | grep -q '"sanitizer": "thread'; then
    echo "ThreadSanitizer writes out what stdout holds when the handler ends the program"
    exit 77
fi
make() { PYTHONPATH="$DATA/../cli/pains" python3 -B - "$1" << 'END'
import sys
from files import *
# two tables of zeros, 32 GiB each, that take no room
side = 2**20 * 2**13 * 4
entry = lambda at: {"dtype": "F32", "shape": [2**20, 2**13], "data_offsets": [at, at + side]}
raw_safetensors(sys.argv[1], json.dumps({EMBED: entry(0), HEAD: entry(side)}).encode())
with open(sys.argv[1], "rb+") as file:
    length = struct.unpack("<Q", file.read(8))[0]
    file.truncate(8 + length + 2 * side)
END
}
shrink() {
    make t.safetensors
    python3 -B "$DATA/../cli/hostile/shrink.py" t.safetensors wte "$@"
}
ids=$(seq 1000 700 1000000)
shrink lookup --full t.safetensors $ids
shrink trace t.safetensors $ids
shrink check t.safetensors
shrink tied t.safetensors
shrink near --metric euclid t.safetensors 5
wte new --rows 1 --dim 8192 --seed 1 -o got.npy > told
shrink diagnose t.safetensors --id 5 --observed got.npy
make other.safetensors
shrink diff t.safetensors other.safetensors
shrink diff other.safetensors t.safetensors
