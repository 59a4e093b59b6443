#!/usr/bin/env python3
"""Gradients against a live PyTorch: embedding and embedding_bag over random tables, ids and options.

    oracle_torch_grad.py libwte.so

Dense gradients and sparse ones (PyTorch's coalesced), padding, scale_grad_by_freq, sums, means and maxima of bags, weights
and their gradient, two calls that add up, the norm and clipping. Sums may differ in their last bits, since PyTorch adds in
another order or with other roundings: they are held to the error that any order has. For bags with scale_grad_by_freq
PyTorch's CPU code divides by the count of another id, so there the counts are put into weights. Exit 0: all agree; 1: some
do not (they are printed); 77: no PyTorch here.
"""
import ctypes
import sys

import oracle_wte as wte
from torch_bags import MODES, Bags, compare

CASES = 500
DENSE, SPARSE = 0, 1


class Case(Bags):
    """One random call forwards and backwards."""

    def __init__(self, torch, noise):
        super().__init__(torch, noise, ["lookup", "lookup"] + MODES, longest=300)
        rows, dim = self.table.shape
        self.padding = noise.randrange(rows) if noise.random() < 0.4 else None
        self.freq = noise.random() < 0.3 and self.mode != "max"
        self.sparse = noise.random() < 0.5
        self.f64_sums = noise.random() < 0.3
        self.twice = noise.random() < 0.2
        if noise.random() < 0.3 and self.ids.numel():
            self.ids[torch.rand(self.ids.shape) < 0.5] = noise.randrange(rows)
        self.weights = self.some_weights(noise)
        n_out = self.ids.numel() if self.mode == "lookup" else len(self.offsets) - 1
        self.d_out = torch.randn(n_out, dim)

    def counts(self):
        return self.torch.bincount(self.ids.long(), minlength=len(self.table))

    def by_torch(self, d_out, table, weights, magnitudes=False):
        """The dense gradients of table and weights. PyTorch's own sparse ones are coalesced and spread out."""
        torch, functional = self.torch, self.torch.nn.functional
        table = table.clone().requires_grad_()
        sparse = self.sparse and not self.freq and self.mode != "max" and not magnitudes
        if self.mode == "lookup":
            out = functional.embedding(self.ids, table, self.padding, scale_grad_by_freq=self.freq, sparse=sparse)
        else:
            given, by = self.ids, None if weights is None else weights.clone().requires_grad_()
            mode = self.mode
            if self.freq:  # as weights, which only sums take: a mean is a sum of its parts
                members = self.members().clamp(min=1).repeat_interleave(self.lengths())
                part = 1 / self.counts()[self.ids.long()] / (members if mode == "mean" else 1)
                mode, by = "sum", (part if by is None else part * by.detach()).float()
            where = {"include_last_offset": True, "padding_idx": self.padding, "per_sample_weights": by}
            out = functional.embedding_bag(given, table, self.offsets.to(given.dtype), mode=mode, sparse=sparse, **where)
        out.backward(d_out)
        found = table.grad.coalesce().to_dense() if sparse else table.grad
        return found, None if self.mode == "lookup" or by is None or self.freq else by.grad

    def lengths(self):
        return (self.offsets[1:] - self.offsets[:-1]).long()

    def members(self):
        kept = self.torch.ones(self.ids.numel()) if self.padding is None else (self.ids != self.padding).float()
        return self.torch.tensor([float(part.sum()) for part in kept.split(self.lengths().tolist())])

    def __str__(self):
        given = [name for name in ("freq", "sparse", "f64_sums", "twice") if getattr(self, name)]
        return (
            f"{self.mode} of {tuple(self.table.shape)}, {self.ids.numel()} ids {self.ids.dtype}, padding {self.padding}, "
            f"weights {self.weights is not None}, {' '.join(given)}"
        )


class Ours:
    """The same by wte."""

    def __init__(self, case, library, pool):
        self.case, self.library, self.pool = case, library, pool
        self.rows, self.ids, self.offsets = case.rows(), case.numbers(case.ids), case.numbers(case.offsets)
        self.back = wte.BackwardOptions(struct_size=ctypes.sizeof(wte.BackwardOptions), scale_by_freq=case.freq)
        self.bag = wte.BagOptions(struct_size=ctypes.sizeof(wte.BagOptions), offsets_end=1, pool=pool)
        self.padding = ctypes.c_int64(-1 if case.padding is None else case.padding)
        given = self.back if case.mode == "lookup" else self.bag
        if case.padding is not None:
            given.ignore_ids, given.n_ignore_ids = ctypes.addressof(self.padding), 1
        if case.mode != "lookup":
            self.bag.mode = MODES.index(case.mode)
        if case.weights is not None:
            self.bag.weights = case.weights.data_ptr()

    def maxima(self):
        self.at = self.case.torch.zeros(self.case.d_out.shape, dtype=self.case.torch.int64)
        self.bag.max_at = self.at.data_ptr()
        out = self.case.torch.zeros(self.case.d_out.shape)
        self.library.call("bag_reduce", ctypes.byref(self.rows), self.ids, self.offsets, ctypes.byref(self.bag), out.data_ptr(), 0)

    def gradient(self, grad):
        back, d_out = ctypes.byref(self.back), self.case.d_out.data_ptr()
        if self.case.mode == "lookup":
            self.library.call("grad_lookup", grad, self.ids, d_out, 0, back)
        else:
            self.library.call("grad_bag", grad, self.ids, self.offsets, ctypes.byref(self.bag), d_out, 0, back)

    def of_table(self):
        """Dense numbers, and the rows that a sparse gradient has."""
        torch, shape = self.case.torch, self.case.table.shape
        kind = SPARSE if self.case.sparse else DENSE
        grad = self.library.grad(*shape, kind=kind, f64_sums=self.case.f64_sums, pool=self.pool)
        if self.case.mode == "max":
            self.maxima()
        for _ in range(2 if self.case.twice else 1):
            self.gradient(grad)
        n, ids, values = self.library.grad_rows(grad)
        found, dense = torch.zeros(n, shape[1]), torch.zeros(shape)
        if n:
            ctypes.memmove(found.data_ptr(), values, n * shape[1] * 4)
        dense[torch.tensor(range(n) if ids is None else ids, dtype=torch.int64)] = found
        self.norm_and_clip(grad, dense)
        self.library.lib.wte_grad_free(grad)
        return dense, ids

    def norm_and_clip(self, grad, dense):
        """Compared here: the norm with PyTorch's, then clipping to half of it."""
        norm, one = ctypes.c_double(), (ctypes.c_void_p * 2)(grad, grad)
        self.library.call("grad_norm", one, 2, ctypes.byref(norm))
        expected = float(dense.double().norm())
        if abs(norm.value - expected) > 1e-12 * expected:
            raise ValueError(f"the norm is {norm.value}, PyTorch's {expected}")
        parameter = self.case.torch.nn.Parameter(dense.clone())
        parameter.grad = dense.clone()
        self.case.torch.nn.utils.clip_grad_norm_([parameter], expected / 2)
        self.library.call("grad_clip", one, 2, expected / 2, None)
        n, ids, values = self.library.grad_rows(grad)
        clipped = self.case.torch.zeros(n, dense.shape[1])
        if n:
            ctypes.memmove(clipped.data_ptr(), values, clipped.numel() * 4)
        wanted = parameter.grad if ids is None and n else parameter.grad[ids or []]
        if not self.case.torch.allclose(clipped, wanted, rtol=2e-5, atol=1e-30):
            raise ValueError(f"clipping is off by {(clipped - wanted).abs().max()}")

    def of_weights(self):
        found = self.case.torch.full(self.case.ids.shape, 9.0)
        where = (ctypes.byref(self.rows), self.ids, self.offsets, ctypes.byref(self.bag), self.case.d_out.data_ptr())
        self.library.call("bag_weights_grad", *where, ctypes.byref(self.back), found.data_ptr())
        return found


def differs(case, library, pool):
    """What is wrong, or None."""
    expected, of_weights = case.by_torch(case.d_out, case.table, case.weights)
    absolute = None if case.weights is None else case.weights.abs()
    bound, _ = case.by_torch(case.d_out.abs(), case.table, absolute, magnitudes=True)
    times = 2 if case.twice else 1
    ours = Ours(case, library, pool)
    try:
        found, rows = ours.of_table()
    except ValueError as problem:
        return str(problem)
    bound = bound * times * 2.0**-23 * max(case.ids.numel(), 4) + 1e-38
    if not bool(((found - expected * times).abs() <= bound).all()):
        return f"off by {(found - expected * times).abs().max()}"
    if case.sparse:
        named = case.ids if case.padding is None else case.ids[case.ids != case.padding]
        if rows != sorted(set(named.tolist())) and not (rows is None and not named.numel()):
            return "other rows are named"
    if of_weights is not None:
        got = ours.of_weights()
        if not case.torch.allclose(got, of_weights, rtol=1e-4, atol=1e-4 * float(case.table.abs().max())):
            return f"weights off by {(got - of_weights).abs().max()}"
    return None


if __name__ == "__main__":
    sys.exit(compare("gradients", CASES, Case, differs))
