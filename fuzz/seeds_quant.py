"""Seeds of fuzz_quant: a small table of every scheme with its config, and some whose parts do not fit."""
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))
sys.dont_write_bytecode = True
import quant_models  # noqa: E402


def joined(model, end=""):
    return (json.dumps(model.config) + end).encode() + b"\0" + model.file()


def seeds_quant():
    for name in quant_models.MAKERS:
        model = quant_models.make(name, 32, 128)
        if len(model.file()) > 12000:
            continue
        yield name, joined(model)
        model.config = {}
        yield f"{name}-unsaid", joined(model)
    # what quantize_config.json says: a blank behind it tells the target
    model = quant_models.make("gptq-4")
    model.config = {"bits": 4, "group_size": 32, "desc_act": True, "a.b": {"bits": 3, "mode": "x"}}
    yield "beside", joined(model, " ")
    for name in ("gptq-reordered", "mlx-4", "ct-4", "bnb-nf4-nested", "hqq-4"):
        for i in range(len(quant_models.make(name).tensors)):
            model = quant_models.make(name)
            del model.tensors[i]
            yield f"{name}-less-{i}", joined(model)
    yield "config-cut", b'{"quantization_config":{"bits":4,"config_groups":{"a":{"weights":{"num_bits":\0'
    yield "no-file", b"{}\0"
