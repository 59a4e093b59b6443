#!/usr/bin/env python3
"""Compare models in parts, consolidated.NN.pth, with a live PyTorch: matrices are cut by rows or by columns and saved
as PyTorch saves them, and must come back whole, row by row, as torch.cat joins them.

usage: oracle_torch_parts.py LIBRARY

Pieces are saved as copies or as views of the whole (then their rows lie apart), in the zip or the older form. Exit 77
when PyTorch is not there.
"""
import ctypes as c
import json
import os
import pathlib
import random
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED, Error, Rows  # noqa: E402

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)
from oracle_files import Files  # noqa: E402

warnings.simplefilter("ignore")
SEED = 19880126
TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int16, torch.uint8]
READ_BLOCK = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint64, c.c_size_t, c.c_void_p, c.c_void_p)
READ_ROWS = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p)


def bytes_of(tensor):
    return bytes(tensor.contiguous().reshape(-1).view(torch.uint8).tolist()) if tensor.numel() else b""


def some_model(rng, parts):
    """name -> (whole, the dimension it is cut along or None)."""
    dim = parts * rng.choice([2, 4, 7])
    kind = rng.choice(TYPES)
    made = lambda *shape: (torch.randn(shape) * 50).to(kind)  # noqa: E731
    rows = lambda: parts * rng.choice([k for k in (1, 3, 9, 70) if k != dim])  # noqa: E731
    return dim, {
        "tok_embeddings.weight": (made(rows(), dim), rng.choice([0, 1])),
        "output.weight": (made(rows(), dim), 0),
        "layers.0.feed_forward.w2.weight": (made(dim, parts * (dim + 1)), 1),
        "layers.0.feed_forward.w1.weight": (made(rows(), dim), 0),
        "norm.weight": (made(dim), None),
        "rope.freqs": (torch.randn(3), None),
    }


def save(rng, folder, parts, dim, model):
    told = rng.random() < 0.5
    if told:
        with open(os.path.join(folder, "params.json"), "w") as f:
            json.dump({"dim": dim, "n_layers": 1, "vocab_size": -1}, f)
    for i in range(parts):
        state = {}
        for name, (whole, cut) in model.items():
            piece = whole if cut is None else whole.chunk(parts, cut)[i]
            state[name] = piece if rng.random() < 0.3 else piece.clone()
        torch.save(state, os.path.join(folder, f"consolidated.{i:02d}.pth"), _use_new_zipfile_serialization=rng.random() < 0.7)


def rows_of(files, handle, name):
    i, rows, error = c.c_uint64(), Rows(), Error()
    assert files.lib.wte_file_find(handle, name.encode(), c.c_uint64(len(name)), c.byref(i), c.byref(error)) == 0, error.message
    assert files.lib.wte_file_row_source(handle, i, c.byref(rows), c.byref(error)) == 0, error.message
    return rows


def check_rows(rng, rows, whole, where):
    """The whole in one block, some rows of it, and rows by ids in any order."""
    error = Error()
    want = bytes_of(whole)
    size = whole.shape[-1] * whole.element_size() if whole.dim() == 2 else whole.element_size()
    assert rows.rows == whole.shape[0] and rows.rows * size == len(want), where
    block, by_ids = READ_BLOCK(rows.read_block), READ_ROWS(rows.read_rows)
    out = c.create_string_buffer(max(1, len(want)))
    assert block(rows.ctx, 0, rows.rows, out, c.addressof(error)) == 0, error.message
    assert out.raw[: len(want)] == want, where
    first = rng.randrange(rows.rows)
    n = rng.randrange(1, rows.rows - first + 1)
    assert block(rows.ctx, first, n, out, c.addressof(error)) == 0, error.message
    assert out.raw[: n * size] == want[first * size : (first + n) * size], where
    ids = [rng.randrange(rows.rows) for _ in range(rows.rows)]
    assert by_ids(rows.ctx, (c.c_uint64 * len(ids))(*ids), len(ids), out, c.addressof(error)) == 0, error.message
    assert out.raw[: len(want)] == b"".join(want[k * size : (k + 1) * size] for k in ids), where


def main():
    files, rng, tables = Files(sys.argv[1]), random.Random(SEED), 0
    files.lib.wte_file_row_source.argtypes = [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]
    torch.manual_seed(SEED)
    for k in range(60):
        parts = rng.choice([2, 3, 4, 8])
        dim, model = some_model(rng, parts)
        with tempfile.TemporaryDirectory() as folder:
            save(rng, folder, parts, dim, model)
            error, handle = Error(), c.c_void_p()
            path = os.path.join(folder, f"consolidated.{rng.randrange(parts):02d}.pth")
            if files.lib.wte_file_open(path.encode(), None, c.byref(handle), c.byref(error)):
                raise AssertionError(f"model {k}: {error.message.decode()}")
            assert files.lib.wte_file_n_tensors(handle) == len(model)
            for name, (whole, _) in model.items():
                rows = rows_of(files, handle, name)
                check_rows(rng, rows, whole, f"seed {SEED}, model {k}, {parts} parts: {name}")
                tables += whole.dim() == 2
            files.lib.wte_file_free(handle)
    print(f"PyTorch {torch.__version__}: {tables} matrices in parts, joined alike")
    assert tables == 240


main()
