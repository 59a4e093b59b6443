#!/usr/bin/env python3
"""wte_head_logits against a live PyTorch: hidden @ table.T, and the chains of models around it.

    oracle_torch_head.py libwte.so

Exact logits lie within (dim / 16 + 5) 2^-24 of the sum of the magnitudes from PyTorch's product in f64, fast ones within
2^-7 of it. Exit 0: all do; 1: some do not (they are printed); 77: no PyTorch here.
"""
import sys

import oracle_wte as wte

SHAPES = [(1, 1, 1), (6, 3, 2), (50, 64, 9), (257, 33, 5), (1000, 768, 3), (500, 768, 40), (30, 4096, 17)]
EXACT, FAST = 0, 1


class Comparison:
    def __init__(self, torch, library):
        self.torch, self.library = torch, library
        self.types = {torch.float32: wte.F32, torch.float16: wte.F16, torch.bfloat16: wte.BF16}
        self.pool = library.pool(2)
        self.compared, self.wrong = 0, 0

    def logits(self, table, hidden, **options):
        out = self.torch.full((hidden.shape[0], table.shape[0]), 7.0)
        rows = wte.Rows(rows=table.shape[0], cols=table.shape[1], dtype=self.types[table.dtype], data=table.data_ptr())
        rows.row_bytes = table.shape[1] * table.element_size()
        given = wte.Hidden(data=hidden.data_ptr(), dtype=self.types[hidden.dtype], n=hidden.shape[0], dim=hidden.shape[1])
        self.library.logits(rows, given, out.data_ptr(), pool=self.pool, **options)
        return out.double()

    def check(self, got, expected, bound, what):
        self.compared += 1
        worst = ((got - expected).abs() - bound).max().item()
        if worst > 0:
            self.wrong += 1
            print(f"DIFFERENT {what}: {worst:g} beyond the bound")

    def one(self, table, hidden):
        what = f"table {tuple(table.shape)} {table.dtype}, hidden {tuple(hidden.shape)} {hidden.dtype}"
        w, h = table.double(), hidden.double()
        product, size = h @ w.T, h.abs() @ w.abs().T
        rounded = (w.shape[1] / 16 + 5) * 2.0**-24 * size
        self.check(self.logits(table, hidden), product, rounded, what)
        fast = (2.0**-7 + w.shape[1] * 2.0**-23) * size
        self.check(self.logits(table, hidden, precision=FAST), product, fast, "fast, " + what)
        bias = self.torch.randn(table.shape[0])
        chain = wte.Chain(hidden_times=0.5, times=3.0, over=7.0, cap=30.0)
        got = self.logits(table, hidden, chain=chain, bias=bias.data_ptr(), bias_dtype=wte.F32)
        plain = (product * 0.5 + bias.double()) * 3 / 7
        capped = 30 * self.torch.tanh(plain / 30)
        self.check(got, capped, rounded * 3 / 7 + 2.0**-20 * plain.abs() + 2.0**-20 * bias.double().abs(), "chain, " + what)


def main():
    try:
        import torch
    except ImportError as missing:
        print(f"skipped: {sys.executable} has no PyTorch ({missing})")
        return wte.SKIPPED
    torch.manual_seed(30)
    check = Comparison(torch, wte.Library(sys.argv[1]))
    for rows, dim, n in SHAPES:
        for table_type in check.types:
            for hidden_type in check.types:
                check.one(torch.randn(rows, dim).to(table_type), torch.randn(n, dim).to(hidden_type))
    print(f"{check.compared} products compared, {check.wrong} different")
    return 1 if check.wrong or not check.compared else 0


if __name__ == "__main__":
    sys.exit(main())
