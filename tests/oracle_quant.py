#!/usr/bin/env python3
"""Compare the library's reading of quantised tables with tables computed before they were packed.

usage: oracle_quant.py LIBRARY

Each scheme of quant_models.py at several sizes: whole, in blocks that begin anywhere, and rows at random; mapped and
read. Exit 77 when NumPy is not there.
"""
import ctypes as c
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED, Error, Rows  # noqa: E402

try:
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)
import quant_models  # noqa: E402

SIZES = [(32, 128), (160, 128), (320, 384), (32, 1152)]
READER = c.CFUNCTYPE(c.c_int, c.c_void_p, c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p)


class Options(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("tensor", c.c_char_p),
        ("head", c.c_char_p),
        ("without_vocab", c.c_uint32),
        ("copy", c.c_uint32),
        ("allocator", c.c_void_p),
        ("progress", c.c_void_p),
    ]


class Table(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("why", c.c_char_p),
        ("dtype", c.c_int),
        ("rows", c.c_uint64),
        ("dim", c.c_uint64),
        ("tensor", c.c_uint64),
        ("offset", c.c_uint64),
        ("row_bytes", c.c_uint64),
        ("part", c.c_uint32),
        ("transposed", c.c_bool),
        ("mapped", c.c_bool),
        ("source", Rows),
        ("block", c.c_int),
        ("scheme", c.c_char_p),
    ]


def check(lib, folder, model, copy, rng):
    error, handle, table = Error(), c.c_void_p(), c.POINTER(Table)()

    def call(name, *arguments):
        assert getattr(lib, "wte_" + name)(*arguments, c.byref(error)) == 0, error.message

    options = Options(struct_size=c.sizeof(Options), copy=copy)
    call("model_open", folder.encode(), c.byref(options), c.byref(handle))
    call("model_input", handle, c.byref(table))
    t = table.contents
    want = np.array(model.values, dtype=np.float32)
    assert t.scheme.decode() == model.scheme, (t.scheme, model.scheme)
    assert (t.rows, t.dim) == want.shape and t.dtype == 2
    got = np.empty_like(want)
    call("row_source_read_block", c.byref(t.source), c.c_uint64(0), c.c_size_t(t.rows), got.ctypes.data_as(c.c_void_p))
    assert got.tobytes() == want.tobytes(), (model.scheme, np.argwhere(got != want)[:3], got, want)
    for _ in range(8):
        first = int(rng.integers(t.rows))
        n = int(rng.integers(1, t.rows - first + 1))
        call("row_source_read_block", c.byref(t.source), c.c_uint64(first), c.c_size_t(n), got.ctypes.data_as(c.c_void_p))
        assert got[:n].tobytes() == want[first : first + n].tobytes()
    ids = rng.integers(t.rows, size=len(got)).astype(np.uint64)
    read = READER(t.source.read_rows)
    status = read(t.source.ctx, ids.ctypes.data, len(ids), got.ctypes.data, c.addressof(error))
    assert status == 0 and got.tobytes() == want[ids].tobytes()
    lib.wte_model_free(handle)


def main():
    lib = c.CDLL(sys.argv[1])
    lib.wte_model_free.argtypes = [c.c_void_p]
    rng = np.random.default_rng(7)
    n = 0
    for name in sorted(quant_models.MAKERS):
        for rows, dim in SIZES:
            model = quant_models.make(name, rows, dim)
            with tempfile.TemporaryDirectory() as folder:
                model.write(folder)
                check(lib, folder, model, n % 2, rng)
            n += 1
    print(f"{n} tables of {len(quant_models.MAKERS)} kinds are read as they were packed")


main()
