#!/usr/bin/env python3
"""Compare our reader of PyTorch checkpoints with a live PyTorch: names, types, shapes, strides, every element,
and which tensors share a storage.

usage: oracle_torch_files.py LIBRARY

Both containers that PyTorch still writes, zip archives packed anew by Python (deflated, in another order), and
the oldest one, in tar, built here by hand. Exit 77 when PyTorch is not there.
"""
import collections
import ctypes as c
import io
import os
import pathlib
import random
import sys
import tempfile
import warnings
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED, Error, Rows  # noqa: E402

try:
    import torch
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)
from oracle_files import Files, Tensor  # noqa: E402
from torch_tar import old_tar  # noqa: E402

warnings.simplefilter("ignore")
SEED = 19880126
NAMES = {
    torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
    torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
    torch.complex64: "C64",
}  # fmt: skip
NUMBERS = {"F64": 1, "F32": 2, "F16": 3, "BF16": 4, "I8": 7, "U8": 8, "I16": 9, "I32": 11, "I64": 13, "BOOL": 15, "C64": 16}
READ_BLOCK = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_uint64, c.c_size_t, c.c_void_p, c.c_void_p)


def some_tensor(rng):
    kind = rng.choice(list(NAMES))
    shape = [rng.choice([0, 1, 2, 3, 5, 130]) for _ in range(rng.choice([0, 1, 2, 2, 2, 2, 3]))]
    made = (torch.randn(shape) * 50).to(kind) if kind.is_floating_point else torch.randint(-100, 100, shape).to(kind)
    return torch.view_as_complex(torch.randn(shape + [2])) if kind == torch.complex64 else made


def some_view(rng, tensor):
    """Of the same storage: a slice, every other element, turned, spread, flat, or the whole."""
    if tensor.dim() == 0:
        return tensor
    dim = rng.randrange(tensor.dim())
    n = tensor.shape[dim]
    kind = rng.randrange(6)
    if kind == 0:
        start = rng.randrange(n + 1)
        return tensor.narrow(dim, start, rng.randrange(n - start + 1))
    if kind == 1:
        return tensor[tuple([slice(None)] * dim + [slice(rng.randrange(3), None, rng.choice([2, 3]))])]
    if kind == 2:
        return tensor.transpose(dim, rng.randrange(tensor.dim()))
    if kind == 3:
        return tensor.narrow(dim, 0, min(1, n)).expand([4 if i == dim and n else s for i, s in enumerate(tensor.shape)])
    if kind == 4:
        return tensor.diagonal() if tensor.dim() == 2 else tensor
    return tensor


def some_dict(rng):
    made = collections.OrderedDict()
    for i in range(rng.choice([1, 4, 12])):
        base = some_tensor(rng)
        made[f"layer.{i}.weight"] = torch.nn.Parameter(base) if base.is_floating_point() and rng.random() < 0.3 else base
        for k in range(rng.randrange(4)):
            view = some_view(rng, some_view(rng, base) if rng.random() < 0.5 else base)
            made[f"layer.{i}.view{k}"] = view.detach()
    return made


def packed_anew(data, rng):
    """The same archive as another writer leaves it: members in another order, some deflated."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        rng.shuffle(names)
        for name in names:
            new.writestr(name, old.read(name), rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    return out.getvalue()


def rows_of(files, handle, i, shape):
    """All rows by read_block and, in reverse, one by one; None when it is no matrix."""
    rows, error = Rows(), Error()
    if files.lib.wte_file_row_source(handle, i, c.byref(rows), c.byref(error)):
        assert error.status == 2 or "no matrix" in error.message.decode(), error.message
        return None
    size = rows.cols * (torch.tensor([], dtype=TORCH[rows.dtype]).element_size())
    block = c.create_string_buffer(max(1, rows.rows * size))
    read = READ_BLOCK(rows.read_block)
    assert read(rows.ctx, 0, rows.rows, block, c.addressof(error)) == 0, error.message
    one = c.create_string_buffer(max(1, size))
    for r in range(rows.rows):
        assert files.lib.wte_row_source_read(c.byref(rows), c.c_uint64(r), one, c.byref(error)) == 0, error.message
        assert one.raw[:size] == block.raw[r * size : (r + 1) * size], f"row {r}"
    return block.raw[: rows.rows * size]


TORCH = {NUMBERS[name]: kind for kind, name in NAMES.items()}


def values_of(tensor):
    flat = torch.empty(tensor.shape, dtype=tensor.dtype).copy_(tensor.detach()).reshape(-1)
    if not flat.numel():
        return b""
    if flat.dtype == torch.complex64:
        flat = torch.view_as_real(flat).reshape(-1)
    if flat.dtype == torch.bool:
        flat = flat.to(torch.uint8)
    return bytes(flat.view(torch.uint8).tolist())


def check(files, path, state, where):
    error, handle = Error(), c.c_void_p()
    if files.lib.wte_file_open(path.encode(), None, c.byref(handle), c.byref(error)):
        raise AssertionError(f"{where}: {error.message.decode()}")
    assert files.lib.wte_file_n_tensors(handle) == len(state), where
    shared, matrices = {}, 0
    for name, tensor in state.items():
        i, found = c.c_uint64(), Tensor()
        assert files.lib.wte_file_find(handle, name.encode(), c.c_uint64(len(name)), c.byref(i), c.byref(error)) == 0, (where, name)
        assert files.lib.wte_file_tensor(handle, i.value, c.byref(found), c.byref(error)) == 0
        assert TORCH[found.dtype] == tensor.dtype, (where, name)
        assert list(found.shape[: found.rank]) == list(tensor.shape), (where, name)
        if tensor.numel():
            got, want = found.stride[: found.rank], tensor.stride()
            assert all(s == 1 or a == b for s, a, b in zip(tensor.shape, got, want)), (where, name, got, want)
            assert shared.setdefault(found.storage, tensor.storage().data_ptr()) == tensor.storage().data_ptr(), (where, name)
        rows = rows_of(files, handle, i.value, tensor.shape)
        if rows is not None:
            assert rows == values_of(tensor), (where, name, tensor.shape, tensor.stride())
            matrices += 1
    with_values = {t.storage().data_ptr() for t in state.values() if t.numel()}
    assert len(shared) == len(with_values), where
    files.lib.wte_file_free(handle)
    return matrices


def main():
    files, rng, matrices = Files(sys.argv[1]), random.Random(SEED), 0
    files.lib.wte_file_row_source.argtypes = [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]
    torch.manual_seed(SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pt")
        for i in range(60):
            state = some_dict(rng)
            for form in ["zip", "legacy", "anew", "tar"]:
                if form == "tar":  # it is older than complex numbers
                    state = {k: v.detach() for k, v in state.items() if not v.is_complex()}
                    data = old_tar(state)
                else:
                    whole = rng.choice([state, {"epoch": 1, "state_dict": state, "optimizer": {0: torch.ones(2)}}])
                    out = io.BytesIO()
                    torch.save(whole, out, _use_new_zipfile_serialization=form != "legacy", pickle_protocol=rng.choice([2, 2, 3, 4]))
                    data = packed_anew(out.getvalue(), rng) if form == "anew" else out.getvalue()
                with open(path, "wb") as f:
                    f.write(data)
                if form == "tar":  # PyTorch itself takes it
                    loaded = torch.load(path)
                    assert all(values_of(loaded[k]) == values_of(v) for k, v in state.items())
                matrices += check(files, path, state, f"seed {SEED}, file {i}, {form}")
    print(f"PyTorch {torch.__version__}: 240 checkpoints read alike, {matrices} matrices row by row")
    assert matrices > 1000


main()
