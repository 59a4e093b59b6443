#!/usr/bin/env python3
"""Write the checkpoints of tests/data/torch with PyTorch 1.13 (Debian's python3-torch).

usage: make_golden_torch.py OUTPUT_DIRECTORY

The table W of all of them is 4 x 3, f32, with 0, 1, 2, ... 11 in row order. test_torch.c knows this rule.
"""
import collections
import io
import pathlib
import sys
import zipfile

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from torch_tar import old_tar  # noqa: E402


def table():
    return torch.arange(12, dtype=torch.float32).reshape(4, 3)


def views():
    W = table()
    return collections.OrderedDict(
        [
            ("wte.weight", W),
            ("lm_head.weight", W),
            ("rows", W[1:3]),
            ("turned", W.t()),
            ("columns", W[:, 1:]),
            ("every_row", W[::2]),
            ("every_column", W[:, ::2]),
            ("spread", W[1:2].expand(3, 3)),
            ("half", W.half()),
            ("bfloat", W.bfloat16()),
            ("long", W.long()),
            ("flag", W > 5),
            ("scalar", torch.tensor(3.5)),
            ("none", torch.zeros(0, 4)),
            ("parameter", torch.nn.Parameter(W * 2)),
        ]
    )


class Hostile:
    def __reduce__(self):
        import os

        return os.system, ("echo this must never be printed",)


def deflated(data):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist()):
            new.writestr(zipfile.ZipInfo(name), old.read(name), zipfile.ZIP_DEFLATED)
    return out.getvalue()


def saved(value, **options):
    out = io.BytesIO()
    torch.save(value, out, **options)
    return out.getvalue()


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    legacy = {"_use_new_zipfile_serialization": False}
    nested = {"epoch": 3, "state_dict": {"model.wte.weight": table()}, "optimizer": {"state": {0: {"exp_avg": table()}}}}
    plain = {k: v.detach() for k, v in views().items()}
    (out / "views.pt").write_bytes(saved(views()))
    (out / "views-deflated.pt").write_bytes(deflated(saved(views())))
    (out / "views-legacy.pt").write_bytes(saved(views(), **legacy))
    (out / "views-tar.pt").write_bytes(old_tar(plain))
    (out / "views-protocol4.pt").write_bytes(saved(views(), pickle_protocol=4))
    (out / "lightning.ckpt").write_bytes(saved(nested))
    (out / "containers.pt").write_bytes(saved({"step": 1, "model": {"module": {"wte": {"weight": table()}, "n": 2}}}))
    (out / "lists.pt").write_bytes(saved({"layers": [table(), {"bias": table()[0]}], 7: (table(),)}))
    (out / "tensor.pt").write_bytes(saved(table()))
    W = table()
    (out / "many.pt").write_bytes(deflated(saved({f"layer.{i}": W for i in range(1500)})))
    (out / "module.pt").write_bytes(saved(torch.nn.Embedding(4, 3)))
    (out / "hostile.pt").write_bytes(saved({"wte.weight": table(), "x": Hostile()}))
    (out / "hostile-legacy.pt").write_bytes(saved(Hostile(), **legacy))
    torch.jit.save(torch.jit.script(torch.nn.Linear(1, 1)), str(out / "script.pt"))


main()
