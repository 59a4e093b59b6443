# mp_rank_NN/ of Megatron: any of the folders, or the one that they are in, is the whole model. One alone is refused.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - << 'END'
import argparse
from files import *
from torch_files import *
whole = table(8, 3)
args = argparse.Namespace(tensor_model_parallel_size=2, padded_vocab_size=8, hidden_size=3)
def part(rows, args):
    inside = {"word_embeddings": {"weight": Tensor(rows)}, "position_embeddings": {"weight": Tensor(table(4, 3))}}
    return {"args": args, "iteration": 5, "model": {"language_model": {"embedding": inside, "output_layer": {"weight": Tensor(rows)}}}}
for rank in range(2):
    for folder, said in (("iter", args), ("plain", {})):
        torch(f"{folder}/mp_rank_0{rank}/model_optim_rng.pt", part(whole[4 * rank:][:4], said))
torch("first/mp_rank_00/model_optim_rng.pt", part(whole[:4], args))
torch("second/mp_rank_01/model_optim_rng.pt", part(whole[4:], {}))
torch("renamed.pt", part(whole[4:], args))
torch("short/mp_rank_00/m.pt", part(whole[:4], {"tensor_model_parallel_size": 4}))
torch("short/mp_rank_01/m.pt", part(whole[4:], {"tensor_model_parallel_size": 4}))
for stage in range(2):
    for rank in range(2):
        name = "word_embeddings.weight" if stage == 0 else "output_layer.weight"
        torch(f"stages/mp_rank_0{rank}_00{stage}/m.pt", {"model": {name: Tensor(whole[4 * rank:][:4])}})
        torch(f"nemo/tp_rank_0{rank}_pp_rank_000/w.ckpt", {name: Tensor(whole[4 * rank:][:4])})
END
run wte lookup iter 0 3 4 7
run wte inspect iter
run wte lookup plain/mp_rank_01/model_optim_rng.pt 4
run wte lookup iter/mp_rank_01 4 --tensor language_model.output_layer.weight
for file in first second renamed.pt short; do
    for command in lookup inspect check tied; do
        words=$([ $command = lookup ] && echo 0 || true)
        run wte $command $file $words
    done
done
run wte inspect stages
run wte lookup stages/mp_rank_01_000/m.pt 4
run wte lookup nemo 4
