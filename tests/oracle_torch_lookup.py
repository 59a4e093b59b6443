#!/usr/bin/env python3
"""wte_lookup against a live PyTorch: F.embedding and index_select, bit for bit.

    oracle_torch_lookup.py libwte.so

Random bit patterns serve as tables, so NaNs, infinities and denormals must come through too. Exit 0: all equal;
1: some differ (they are printed); 77: no PyTorch here.
"""
import sys

import oracle_wte as wte

TABLES = [(1, 1), (6, 3), (7, 5), (100, 64), (257, 33), (1000, 768), (30000, 16), (50, 4096)]
SHAPES = [(), (0,), (1,), (4,), (2, 3), (0, 5), (3, 0, 2), (1, 1, 1), (3, 5, 7), (600,), (5, 400)]


class Comparison:
    def __init__(self, torch, library):
        self.torch, self.library = torch, library
        self.types = {
            torch.float32: (wte.F32, torch.int32),
            torch.float16: (wte.F16, torch.int16),
            torch.bfloat16: (wte.BF16, torch.int16),
            torch.float64: (wte.F64, torch.int64),
        }
        self.pool = library.pool(2)
        self.lookups, self.wrong = 0, 0

    def random_table(self, rows, dim, dtype):
        bits = self.types[dtype][1]
        limits = self.torch.iinfo(bits)
        return self.torch.randint(limits.min, limits.max, (rows, dim), dtype=bits).view(dtype)

    def wte_lookup(self, table, ids):
        """A tensor of ids.shape + (dim,), as libwte fills it."""
        out = self.torch.full(ids.shape + table.shape[1:], 1, dtype=table.dtype)
        rows = wte.Rows(rows=table.shape[0], cols=table.shape[1], dtype=self.types[table.dtype][0], data=table.data_ptr())
        rows.row_bytes = table.shape[1] * table.element_size()
        kind = wte.I64 if ids.dtype == self.torch.int64 else wte.I32
        given = wte.Ids(data=ids.data_ptr(), type=kind, count=ids.numel())
        self.library.lookup(rows, given, out.data_ptr(), self.pool if self.lookups % 2 else None)
        return out

    def equal_bits(self, a, b):
        bits = self.types[a.dtype][1]
        return a.shape == b.shape and self.torch.equal(a.contiguous().view(bits), b.contiguous().view(bits))

    def one(self, table, ids):
        got = self.wte_lookup(table, ids)
        self.lookups += 1
        expected = self.torch.nn.functional.embedding(ids, table)
        selected = self.torch.index_select(table, 0, ids.flatten()).reshape(ids.shape + table.shape[1:])
        if self.equal_bits(got, expected) and self.equal_bits(got, selected):
            return
        self.wrong += 1
        print(f"DIFFERENT table {tuple(table.shape)} {table.dtype}, ids {tuple(ids.shape)} {ids.dtype}")


def main():
    try:
        import torch
    except ImportError as missing:
        print(f"skipped: {sys.executable} has no PyTorch ({missing})")
        return wte.SKIPPED
    torch.manual_seed(20)
    check = Comparison(torch, wte.Library(sys.argv[1]))
    for rows, dim in TABLES:
        for dtype in check.types:
            table = check.random_table(rows, dim, dtype)
            for shape in SHAPES:
                for ids_dtype in (torch.int64, torch.int32):
                    check.one(table, torch.randint(0, rows, shape, dtype=ids_dtype))
    print(f"{check.lookups} lookups, {check.wrong} differ; torch {torch.__version__}")
    return 1 if check.wrong or check.lookups == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
