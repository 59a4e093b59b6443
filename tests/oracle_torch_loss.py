#!/usr/bin/env python3
"""wte_head_loss against a live PyTorch: F.cross_entropy and the gradients of autograd, in doubles.

    oracle_torch_loss.py libwte.so

Mean and sum, ignored targets, label smoothing, bias, soft-cap, scales and z-loss. Gradients must be within 1e-5 of the
sum of their absolute terms, which autograd gives too. Exit 0: all agree; 1: some do not (they are printed); 77: no
PyTorch here.
"""
import ctypes as c
import itertools
import sys

import oracle_wte as wte

IGNORE = -100
SHAPES = [(1, 1, 1), (7, 3, 2), (130, 70, 50), (1000, 64, 33), (5000, 16, 20), (257, 769, 9)]


class LossOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("ignore_id", c.c_int64),
        ("sum", c.c_uint32),
        ("label_smoothing", c.c_float),
        ("z_loss", c.c_float),
        ("skip_below", c.c_float),
        ("upstream", c.c_float),
        ("each", c.c_void_p),
        ("d_hidden", c.c_void_p),
        ("d_table", c.c_void_p),
        ("d_bias", c.c_void_p),
    ]


class Loss(c.Structure):
    _fields_ = [
        ("loss", c.c_double),
        ("lse_mean", c.c_double),
        ("taken", c.c_uint64),
        ("ignored", c.c_uint64),
        ("right", c.c_uint64),
    ]


class Comparison:
    def __init__(self, torch, library):
        self.torch, self.library = torch, library
        self.pool = library.pool(2)
        self.cases, self.wrong = 0, 0

    def wte(self, case, how):
        """Loss and gradients (d_hidden, d_table, d_bias) as libwte computes them."""
        table, hidden, bias, targets = case
        grads = [self.torch.zeros_like(x) for x in (hidden, table, bias)]
        rows = wte.Rows(rows=table.shape[0], cols=table.shape[1], dtype=wte.F32, data=table.data_ptr())
        rows.row_bytes = table.shape[1] * 4
        vectors = wte.Hidden(data=hidden.data_ptr(), dtype=wte.F32, n=hidden.shape[0], dim=hidden.shape[1])
        ids = wte.Ids(data=targets.data_ptr(), type=wte.I64, count=targets.numel())
        head = wte.HeadOptions(bias_dtype=wte.F32, bias=bias.data_ptr(), pool=self.pool if self.cases % 2 else None)
        head.struct_size = c.sizeof(wte.HeadOptions)
        head.chain = wte.Chain(**how["chain"])
        loss = LossOptions(struct_size=c.sizeof(LossOptions), ignore_id=IGNORE, upstream=1)
        loss.sum, loss.label_smoothing, loss.z_loss = how["sum"], how["smoothing"], how["z"]
        loss.d_hidden, loss.d_table, loss.d_bias = (x.data_ptr() for x in grads)
        out = Loss()
        self.library.call("head_loss", c.byref(rows), c.byref(vectors), ids, c.byref(head), c.byref(loss), c.byref(out))
        return out, grads

    def torch_loss(self, case, how):
        """The same in doubles, with the slopes (d loss / d product) of every logit."""
        table, hidden, bias = (x.double().requires_grad_() for x in case[:3])
        chain = how["chain"]
        scaled = hidden * chain.get("hidden_times", 1) / chain.get("hidden_over", 1)
        product = scaled @ table.T + bias
        product.retain_grad()
        logits = product * chain.get("times", 1) / chain.get("over", 1)
        if "cap" in chain:
            logits = chain["cap"] * self.torch.tanh(logits / chain["cap"])
        reduction = "sum" if how["sum"] else "mean"
        entropy = self.torch.nn.functional.cross_entropy
        loss = entropy(logits, case[3], ignore_index=IGNORE, label_smoothing=how["smoothing"], reduction=reduction)
        squares = self.torch.logsumexp(logits, 1)[case[3] != IGNORE] ** 2
        loss = loss + how["z"] * (squares.sum() if how["sum"] else squares.mean())
        loss.backward()
        return loss, (hidden.grad, table.grad, bias.grad), product.grad, scaled.detach()

    def one(self, shape, how):
        rows, dim, n = shape
        table, hidden = self.torch.randn(rows, dim) / dim**0.5, self.torch.randn(n, dim)
        bias, targets = self.torch.randn(rows), self.torch.randint(0, rows, (n,))
        targets[2::5] = IGNORE
        case = (table, hidden, bias, targets)
        out, got = self.wte(case, how)
        loss, expected, slopes, scaled = self.torch_loss(case, how)
        size = slopes.abs()
        before = how["chain"].get("hidden_times", 1) / how["chain"].get("hidden_over", 1)
        terms = (size @ table.double().abs() * abs(before), size.T @ scaled.abs(), size.sum(0))
        fine = abs(out.loss - loss.item()) <= 2e-6 * (abs(loss.item()) + 1)
        for a, b, bound in zip(got, expected, terms):
            fine = fine and bool(((a.double() - b).abs() <= 1e-5 * bound + 1e-15).all())
        self.cases += 1
        if not fine:
            self.wrong += 1
            print(f"DIFFERENT {shape} {how}: loss {out.loss}, not {loss.item()}")

    def nothing_taken(self):
        case = (self.torch.randn(5, 3), self.torch.randn(2, 3), self.torch.zeros(5), self.torch.tensor([IGNORE, IGNORE]))
        how = {"sum": 0, "smoothing": 0.0, "z": 0.0, "chain": {}}
        out, got = self.wte(case, how)
        expected = self.torch.nn.functional.cross_entropy(case[1] @ case[0].T, case[3], ignore_index=IGNORE)
        self.cases += 1
        if out.loss == out.loss or not expected.isnan() or any(x.any() for x in got):
            self.wrong += 1
            print("DIFFERENT: nothing but ignored targets")


def main():
    try:
        import torch
    except ImportError as missing:
        print(f"skipped: {sys.executable} has no PyTorch ({missing})")
        return wte.SKIPPED
    torch.manual_seed(21)
    check = Comparison(torch, wte.Library(sys.argv[1]))
    chains = [{}, {"cap": 5.0}, {"hidden_times": 0.5, "hidden_over": 1.5, "times": 2.0, "over": 0.75, "cap": 30.0}]
    for shape, total, smoothing, z, chain in itertools.product(SHAPES, (0, 1), (0.0, 0.1), (0.0, 1e-3), chains):
        check.one(shape, {"sum": total, "smoothing": smoothing, "z": z, "chain": chain})
    check.nothing_taken()
    print(f"{check.cases} losses, {check.wrong} differ; torch {torch.__version__}")
    return 1 if check.wrong or check.cases == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
