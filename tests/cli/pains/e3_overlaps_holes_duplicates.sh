# Ranges must cover the data once, and a name must come once.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
def two(name, first, second, data, names=("a", "b")):
    entries = ",".join(f'"{n}":{{"dtype":"F32","shape":[{(e - b) // 4}],"data_offsets":[{b},{e}]}}'
                       for n, (b, e) in zip(names, (first, second)))
    raw_safetensors(f"{name}.safetensors", f"{{{entries}}}".encode(), f32([range(data // 4)]))

two("overlap", (0, 32), (16, 48), 48)
two("hole", (0, 8), (16, 24), 24)
two("late", (8, 16), (16, 24), 24)
two("behind", (0, 8), (8, 16), 24)
two("twice", (0, 8), (8, 16), 16, ("a", "a"))
two("reverse", (8, 16), (0, 8), 16)
END
for m in overlap hole late behind twice; do run wte inspect $m.safetensors; done
# any order of the header is legal
run wte lookup reverse.safetensors --tensor a 0 1
run wte lookup reverse.safetensors --tensor b 0 1
