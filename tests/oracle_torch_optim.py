#!/usr/bin/env python3
"""Optimizers against a live PyTorch: random histories of steps, dense and sparse gradients, every kind that both have.

    oracle_torch_optim.py libwte.so

PyTorch runs in doubles; after 25 steps numbers must be within 4e-6 of its own (relative above 1), and its own f32 run is held
to the same. Adam with sparse gradients is compared with PyTorch's dense Adam, which it has to equal. Row-wise Adagrad and Adafactor, which
PyTorch 1.13 has not, are compared with their formulas in NumPy. Exit 0: all agree; 1: some do not; 77: no PyTorch here.
"""
import ctypes as c
import itertools
import random
import sys

import oracle_wte as wte
from oracle_wte import ADAFACTOR, ADAGRAD, ADAM, ADAMW, LAZY_ADAM, ROWWISE_ADAGRAD, SGD

L2, DECOUPLED = 1, 2
DENSE, SPARSE = 0, 1
STEPS, ROWS, DIM, IDS = 25, 40, 19, 30
TOLERANCE = 4e-6


class History:
    """Ids, gradients and learning rates of all steps; and where they begin."""

    def __init__(self, numpy, seed):
        noise = numpy.random.default_rng(seed)
        self.start = noise.standard_normal((ROWS, DIM)).astype(numpy.float32)
        self.ids = noise.integers(0, ROWS // 2 if seed % 2 else ROWS, (STEPS, IDS))
        scale = 10.0 ** noise.integers(-3, 2, (STEPS, 1, 1))
        self.d_out = (noise.standard_normal((STEPS, IDS, DIM)) * scale).astype(numpy.float32)
        self.lr = [0.05 * (0.9**s if seed % 3 else 1) for s in range(STEPS)]

    def dense(self, numpy, step):
        whole = numpy.zeros((ROWS, DIM))
        numpy.add.at(whole, self.ids[step], self.d_out[step].astype(numpy.float64))
        return whole


def by_wte(library, numpy, history, how, settings, pool):
    """The same by wte; how: "dense", "sparse" or "fused"."""
    table = c.c_void_p()
    library.call("table_create", ROWS, DIM, wte.F32, None, c.byref(table))
    c.memmove(library.lib.wte_table_data(table), history.start.ctypes.data, history.start.nbytes)
    made = library.optim(table, lr=0.05, pool=pool, **settings)
    grad = library.grad(ROWS, DIM, kind=DENSE if how == "dense" else SPARSE)
    for step in range(STEPS):
        ids = numpy.ascontiguousarray(history.ids[step], dtype=numpy.int64)
        given = wte.Ids(data=ids.ctypes.data, type=wte.I64, count=IDS)
        d_out = history.d_out[step].ctypes.data
        library.call("optim_set_lr", made, history.lr[step])
        library.call("optim_sync_rows", made, given)
        if how == "fused":
            library.call("optim_step_lookup", made, given, d_out, 0, None)
            continue
        library.lib.wte_grad_zero(grad)
        library.call("grad_lookup", grad, given, d_out, 0, None)
        library.call("optim_step", made, grad)
    library.call("optim_sync_all", made)
    got = numpy.empty((ROWS, DIM), dtype=numpy.float32)
    c.memmove(got.ctypes.data, library.lib.wte_table_data(table), got.nbytes)
    library.lib.wte_optim_free(made)
    library.lib.wte_grad_free(grad)
    library.lib.wte_table_free(table)
    return got


def by_torch(torch, numpy, history, make, sparse, dtype):
    """The same history by one of PyTorch's optimizers."""
    table = torch.tensor(history.start, dtype=dtype).requires_grad_()
    optimizer = make([table])
    for step in range(STEPS):
        for group in optimizer.param_groups:
            group["lr"] = history.lr[step]
        optimizer.zero_grad()
        rows = torch.nn.functional.embedding(torch.tensor(history.ids[step]), table, sparse=sparse)
        rows.backward(torch.tensor(history.d_out[step], dtype=dtype))
        optimizer.step()
    return table.detach().numpy().astype(numpy.float64)


def rowwise_adagrad(numpy, history, decay=0, weight_decay=0.0, eps=1e-8):
    table, sums = history.start.astype(numpy.float64), numpy.zeros(ROWS)
    for step in range(STEPS):
        g, lr = history.dense(numpy, step), history.lr[step]
        joined = g + weight_decay * table if decay == L2 else g
        sums += (joined**2).mean(1)
        by = (lr / (numpy.sqrt(sums) + eps))[:, None]
        keep = 1 - by * weight_decay if decay == L2 else 1 - lr * weight_decay if decay == DECOUPLED else 1
        table = keep * table - by * g
    return table


def adafactor(numpy, history, beta=0.999, eps=1e-8, weight_decay=0.0):
    table, rows, cols = history.start.astype(numpy.float64), numpy.zeros(ROWS), numpy.zeros(DIM)
    for step in range(STEPS):
        g = history.dense(numpy, step) + weight_decay * table
        rows = beta * rows + (1 - beta) * (g**2).mean(1)
        cols = beta * cols + (1 - beta) * (g**2).mean(0)
        second = numpy.outer(rows, cols) / rows.mean() / (1 - beta ** (step + 1))
        table = table - history.lr[step] * g / (numpy.sqrt(second) + eps)
    return table


def torch_cases(torch):
    """Name, ways of giving the gradient, our settings, PyTorch's optimizer, and whether its gradient is sparse."""
    both, sparse = ("dense", "sparse", "fused"), ("sparse", "fused")
    o = torch.optim
    for momentum, dampening, nesterov, decay in itertools.product((0, 0.9), (0, 0.3), (False, True), (0, 0.1)):
        if nesterov and (momentum == 0 or dampening):
            continue
        settings = {"kind": SGD, "momentum": momentum, "dampening": dampening, "nesterov": nesterov, "weight_decay": decay}
        given = {"momentum": momentum, "dampening": dampening, "nesterov": nesterov, "weight_decay": decay}
        ways = both if momentum or not decay else ("dense",)
        yield f"sgd {given}", ways, settings, lambda p, given=given: o.SGD(p, lr=1, **given), False
    yield "sgd sparse", sparse, {"kind": SGD}, lambda p: o.SGD(p, lr=1), True
    for amsgrad, decay, betas in itertools.product((False, True), (0, 0.1), ((0.9, 0.999), (0.5, 0.9))):
        settings = {"amsgrad": amsgrad, "weight_decay": decay, "beta1": betas[0], "beta2": betas[1]}
        given = {"amsgrad": amsgrad, "weight_decay": decay, "betas": betas}
        yield f"adam {given}", both, settings | {"kind": ADAM}, lambda p, given=given: o.Adam(p, **given), False
        yield f"adamw {given}", both, settings | {"kind": ADAMW}, lambda p, given=given: o.AdamW(p, **given), False
    yield "sparse adam", sparse, {"kind": LAZY_ADAM}, lambda p: o.SparseAdam(p), True
    for slower, start, decay in itertools.product((0, 0.1), (0, 0.5), (0, 0.1)):
        given = {"lr_decay": slower, "initial_accumulator_value": start, "weight_decay": decay}
        settings = {"kind": ADAGRAD, "lr_decay": slower, "initial_accumulator": start, "weight_decay": decay}
        ways = ("dense",) if decay else both
        yield f"adagrad {given}", ways, settings, lambda p, given=given: o.Adagrad(p, **given), False
    yield "adagrad sparse", sparse, {"kind": ADAGRAD}, lambda p: o.Adagrad(p), True


def numpy_cases():
    every, dense = ("dense", "sparse", "fused"), ("dense",)
    yield "row-wise adagrad", every, {"kind": ROWWISE_ADAGRAD}, rowwise_adagrad, {}
    for decay in (L2, DECOUPLED):
        more = {"decay": decay, "weight_decay": 0.1}
        yield f"row-wise adagrad {more}", dense, {"kind": ROWWISE_ADAGRAD} | more, rowwise_adagrad, more
    yield "adafactor", dense, {"kind": ADAFACTOR}, adafactor, {}
    yield "adafactor with decay", dense, {"kind": ADAFACTOR, "weight_decay": 0.1}, adafactor, {"weight_decay": 0.1}
    yield "adafactor 0.9", dense, {"kind": ADAFACTOR, "beta2": 0.9}, adafactor, {"beta": 0.9}


class Comparison:
    def __init__(self, numpy, library):
        self.numpy, self.library, self.pools = numpy, library, [None, library.pool(2)]
        self.runs, self.wrong, self.largest = 0, 0, 0.0

    def check(self, name, ways, settings, history, want):
        for way in ways:
            got = by_wte(self.library, self.numpy, history, way, settings, self.pools[self.runs % 2])
            error = float((abs(got - want) / (1 + abs(want))).max())
            self.runs += 1
            self.largest = max(self.largest, error)
            if not error <= TOLERANCE:
                self.wrong += 1
                print(f"DIFFERENT: {name}, {way}: off by {error:.2e}")


def main():
    try:
        import numpy
        import torch
    except ImportError as missing:
        print(f"skipped: {sys.executable} lacks {missing.name}")
        return wte.SKIPPED
    check = Comparison(numpy, wte.Library(sys.argv[1]))
    torch_error = 0.0
    for seed in random.Random(4).sample(range(1000), 4):
        history = History(numpy, seed)
        for name, ways, settings, make, sparse in torch_cases(torch):
            want = by_torch(torch, numpy, history, make, sparse, torch.float64)
            narrow = by_torch(torch, numpy, history, make, sparse, torch.float32)
            torch_error = max(torch_error, float((abs(narrow - want) / (1 + abs(want))).max()))
            check.check(f"{name} (seed {seed})", ways, settings, history, want)
        for name, ways, settings, formula, more in numpy_cases():
            check.check(f"{name} (seed {seed})", ways, settings, history, formula(numpy, history, **more))
    print(f"{check.runs} runs, {check.wrong} differ; off by {check.largest:.1e} at most, PyTorch's f32 by {torch_error:.1e}")
    return 1 if check.wrong or torch_error > TOLERANCE else 0


if __name__ == "__main__":
    sys.exit(main())
