# Part 0 alone, of an unknown number of parts: its ids are right, and inspect says that later rows may be elsewhere.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - << 'END'
import argparse
from files import *
from torch_files import *
rows = table(4, 3)
state = {"word_embeddings.weight": Tensor(rows)}
torch("neox/layer_00-model_00-model_states.pt", state)
torch("deepspeed/mp_rank_00_model_states.pt", {"module": state})
torch("known/mp_rank_00_model_states.pt", {"module": state, "mp_world_size": 1})
torch("megatron/mp_rank_00/model_optim_rng.pt", {"model": state})
torch("args/mp_rank_00/model_optim_rng.pt", {"model": state, "args": argparse.Namespace(tensor_model_parallel_size=1)})
torch("llama/consolidated.00.pth", {"tok_embeddings.weight": Tensor(rows)})
for folder, config in (("rank", None), ("one", {"vocab_size": 4, "hidden_size": 3, "mapping": {"tp_size": 1, "pp_size": 1}})):
    pathlib.Path(folder).mkdir()
    safetensors(f"{folder}/rank0.safetensors", {"transformer.vocab_embedding.weight": tensor(rows)})
    if config: pathlib.Path(folder, "config.json").write_text(json.dumps(config))
END
for model in neox deepspeed known megatron args llama rank one; do
    echo "$ $model"
    wte inspect $model | grep '^  note' || true
    wte lookup -q $model 3 | tail -n 1
done
