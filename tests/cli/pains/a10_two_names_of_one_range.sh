# Two names of the same bytes break the format, and both are named. A name that was dropped for that reason is found in
# the metadata, whichever of the two was kept.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains" python3 -B - << 'END'
from files import *
entry = '{"dtype":"F32","shape":[6,4],"data_offsets":[0,96]}'
data = f32(table(6, 4))
raw_safetensors("both.safetensors", f'{{"{EMBED}":{entry},"{HEAD}":{entry}}}'.encode(), data)
for kept, dropped in ((EMBED, HEAD), (HEAD, EMBED)):
    folder = model("no_" + dropped.split(".")[0], {kept: tensor(table(6, 4))}, llama(6, 4, tied=False), words(6))
    header = f'{{"__metadata__":{{"{dropped}":"{kept}"}},"{kept}":{entry}}}'
    raw_safetensors(folder / "model.safetensors", header.encode(), data)
END
run wte tied both.safetensors
run wte check both.safetensors
for m in no_lm_head no_model; do
    run wte tied $m
    run wte check $m
done
