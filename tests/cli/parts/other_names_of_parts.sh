# vLLM's sharded states (a part is several files), DeepSpeed, GPT-NeoX, metaseq.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - << 'END'
from files import *
from torch_files import *
whole = table(8, 3)
piece = lambda rank: whole[4 * rank:][:4]
def vllm(folder, files):
    pathlib.Path(folder).mkdir()
    pathlib.Path(folder, "config.json").write_text(json.dumps(llama(7, 3, False)))
    for rank, part in files:
        tensors = [{EMBED: tensor(piece(rank))}, {HEAD: tensor(piece(rank)[::-1]), "model.layers.0.mlp.up_proj.weight": tensor(piece(1 - rank)[:3])}]
        safetensors(f"{folder}/model-rank-{rank}-part-{part}.safetensors", tensors[part > 0])
vllm("vllm", [(0, 0), (0, 1), (1, 0), (1, 1)])
vllm("gap", [(0, 0), (0, 2), (1, 0), (1, 2)])
vllm("twice", [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2)])
vllm("less", [(0, 0), (0, 1), (1, 0)])
for rank in range(2):
    state = {"module": {"word_embeddings.weight": Tensor(piece(rank))}, "mp_world_size": 2}
    torch(f"deepspeed/mp_rank_0{rank}_model_states.pt", state)
    torch(f"metaseq/reshard-model_part-{rank}.pt", {"model": {"decoder.embed_tokens.weight": Tensor(piece(rank))}})
    torch(f"neox/layer_00-model_0{rank}-model_states.pt", {"word_embeddings.weight": Tensor(piece(rank))})
    torch(f"layers/layer_00-model_0{rank}-model_states.pt", {"word_embeddings.weight": Tensor(piece(rank))})
    torch(f"layers/layer_05-model_0{rank}-model_states.pt", {"final_linear.weight": Tensor(piece(rank))})
torch("deepspeed0/mp_rank_00_model_states.pt", {"module": {"word_embeddings.weight": Tensor(piece(0))}, "mp_world_size": 2})
torch("neox0/layer_00-model_00-model_states.pt", {"word_embeddings.weight": Tensor(piece(0))})
torch("neox0/layer_01-model_01-model_states.pt", {"w": Tensor(piece(1))})
END
for folder in vllm deepspeed metaseq neox; do run wte lookup $folder 0 5; done
run wte inspect vllm
run wte lookup vllm 0 --tensor model.layers.0.mlp.up_proj.weight
for folder in gap twice less deepspeed0 layers; do run wte inspect $folder; done
run wte lookup layers/layer_00-model_01-model_states.pt 5
run wte lookup neox0/layer_00-model_00-model_states.pt 0
