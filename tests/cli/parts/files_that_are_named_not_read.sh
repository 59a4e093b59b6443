# Distributed checkpoints of PyTorch: each file holds pieces. Tensors that ZeRO-3 left empty: every command says so.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - << 'END'
from files import *
from torch_files import *
for rank in range(2):
    torch(f"dcp/__{rank}_0.distcp", Tensor(table(8, 3)[4 * rank:][:4]))
pathlib.Path("dcp/.metadata").write_bytes(b"\x80\x04N.")
torch("bare/__0_0.distcp", Tensor(table(4, 3)))
pathlib.Path("bare/__0_0.distcp").write_bytes(2 * pathlib.Path("bare/__0_0.distcp").read_bytes())
empty = "F32", [0], b""
model("zero", {EMBED: empty, HEAD: empty, "model.norm.weight": ("F32", [3], f32([[1, 2, 3]]))}, llama(8, 3))
END
run wte lookup dcp 4
run wte check dcp/__1_0.distcp
run wte inspect bare
for command in inspect lookup check tied near trace diff; do
    words=
    case $command in
        lookup | near | trace) words=0 ;;
        diff) words=zero ;;
    esac
    echo "$ wte $command zero $words"
    wte $command zero $words | head -n 3
done
