"""Seeds of the part_names target: a path of each scheme, and names that are nearly one."""

NAMES = [
    "consolidated.00.pth", "m/consolidated.15.pth", "rank0.safetensors", "rank12.safetensors", "model-rank-1-part-0.safetensors",
    "layer_00-model_01-model_states.pt", "mp_rank_00_model_states.pt", "reshard-model_part-3.pt", "__1_0.distcp",
    "iter/mp_rank_01/model_optim_rng.pt", "mp_rank_00_001/m.pt", "tp_rank_00_pp_rank_000/w.ckpt",
    "consolidated.0.pth", "rank.safetensors", "rank99999999999999999999.safetensors", "mp_rank_0a/m.pt", "mp_rank_00", "/mp_rank_01/",
]


def seeds_part_names():
    for number, name in enumerate(NAMES):
        yield f"name_{number}", name.encode()
