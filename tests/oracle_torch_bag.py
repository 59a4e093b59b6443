#!/usr/bin/env python3
"""wte_bag_reduce against a live PyTorch: F.embedding_bag over random tables, ids and offsets.

    oracle_torch_bag.py libwte.so

Maxima and their indices must be equal. Sums may differ in their last bits, since PyTorch adds in another order or with
other roundings: they are held to the error that any order has. Padding, weights, include_last_offset, empty bags,
matrices of ids, max_norm (in PyTorch it changes the table; in wte a copy). Exit 0: all agree; 1: some do not (they are
printed); 77: no PyTorch here.
"""
import ctypes
import sys

from torch_bags import MODES, Bags, compare

CASES = 400


class Case(Bags):
    """One random call: the arguments of F.embedding_bag."""

    def __init__(self, torch, noise):
        super().__init__(torch, noise, MODES, longest=500)
        rows = len(self.table)
        self.last = noise.random() < 0.5
        self.matrix = noise.random() < 0.2
        self.padding = noise.randrange(rows) if noise.random() < 0.5 else None
        self.max_norm = float(self.table.norm(dim=1).median()) if noise.random() < 0.2 else None
        if self.matrix:
            n_bags, each = noise.randrange(1, 20), noise.randrange(1, 60)
            self.ids = torch.randint(0, rows, (n_bags, each), dtype=self.kind)
            self.offsets, self.last = None, False
        elif not self.last:
            self.offsets = self.offsets[:-1]
        if self.padding is not None and self.ids.numel():
            self.ids[torch.rand(self.ids.shape) < 0.3] = self.padding
        self.weights = self.some_weights(noise)

    def by_torch(self, table):
        return self.torch.nn.functional.embedding_bag(
            self.ids,
            table,
            self.offsets,
            max_norm=self.max_norm,
            mode=self.mode,
            per_sample_weights=self.weights,
            include_last_offset=self.last,
            padding_idx=self.padding,
        )

    def by_wte(self, library, n_bags, pool):
        shape = (n_bags, self.table.shape[1])
        out, at = self.torch.full(shape, 9.0), self.torch.full(shape, 9, dtype=self.torch.int64)
        options = {"mode": MODES.index(self.mode), "offsets_end": self.last, "pool": pool}
        if self.matrix:
            options["bag_ids"] = self.ids.shape[1]
        if self.padding is not None:
            ignored = ctypes.c_int64(self.padding)
            options.update(ignore_ids=ctypes.addressof(ignored), n_ignore_ids=1)
        if self.weights is not None:
            options["weights"] = self.weights.data_ptr()
        if self.max_norm:
            options["max_norm"] = self.max_norm
        if self.mode == "max":
            options["max_at"] = at.data_ptr()
        library.bags(self.rows(), self.numbers(self.ids), self.numbers(self.offsets), out.data_ptr(), **options)
        return out, at

    def magnitudes(self):
        """For each column of each bag the sum of |weight x element|: what errors are measured by."""
        weights = None if self.weights is None else self.weights.abs()
        mode = "mean" if self.mode == "mean" else "sum"
        return self.torch.nn.functional.embedding_bag(
            self.ids,
            self.table.abs(),
            self.offsets,
            mode=mode,
            per_sample_weights=weights,
            include_last_offset=self.last,
            padding_idx=self.padding,
        )

    def __str__(self):
        kind = "matrix" if self.matrix else f"{self.offsets.numel()} offsets"
        return (
            f"{self.mode} of {tuple(self.table.shape)}, ids {tuple(self.ids.shape)} {self.ids.dtype}, {kind}, "
            f"last {self.last}, padding {self.padding}, weights {self.weights is not None}, max_norm {self.max_norm}"
        )


def differs(case, library, pool):
    """What is wrong, or None."""
    changed = case.table.clone()
    expected = case.by_torch(changed)
    before = case.table.clone()
    out, at = case.by_wte(library, expected.shape[0], pool)
    if not case.torch.equal(before, case.table):
        return "the table has changed"
    longest = max(case.ids.numel(), 1)
    bound = case.magnitudes() * (2.0**-23 * longest + (1e-6 if case.max_norm else 0)) + 1e-38
    if case.mode == "max" and not case.max_norm:
        bound = case.torch.zeros_like(expected)
        positions = maxima(case, expected)
        if not case.torch.equal(at, positions):
            return "other members have the maximum"
    if not bool(((out - expected).abs() <= bound).all()):
        return f"off by {(out - expected).abs().max()}"
    return None


def maxima(case, expected):
    """The first position of each maximum, looked for in PyTorch's result; -1 in an empty bag."""
    flat = case.ids.flatten()
    ends = list(range(0, flat.numel() + 1, case.ids.shape[1])) if case.matrix else case.offsets.tolist()
    if not case.matrix and not case.last:
        ends.append(flat.numel())
    at = case.torch.full(expected.shape, -1, dtype=case.torch.int64)
    for bag in range(expected.shape[0]):
        for position in reversed(range(ends[bag], ends[bag + 1])):
            if case.padding is None or flat[position] != case.padding:
                hit = case.table[flat[position].long()] == expected[bag]
                at[bag][hit] = position
    return at


if __name__ == "__main__":
    sys.exit(compare("calls", CASES, Case, differs))
