#!/usr/bin/env python3
"""Rows of tables of every type to f32: wte_lookup in turn with FBGEMM, ggml, PyTorch and NumPy.

usage: targets_rows.py libwte.so [PART OF AN OPERATION'S NAME...]

8192 ids of tables of 128000 x 4096 ("16K": the bytes of a row of f32) and of 50257 x 768 ("3K"). All write the same bits,
and that is checked before the clock runs. JSON lines on stdout, as pairs.py says.
"""
import sys

import numpy
import own
import pairs
from session import Session, end

IDS, KINDS = 8192, 251
SHAPES = {"16K": (128000, 4096), "3K": (50257, 768)}
AHEAD = {"16K": (1, 2, 4, 16), "3K": (1, 4, 8, 16)}  # ids that FBGEMM prefetches ahead; its own users get 16


def made(session, kind, values):
    """KINDS rows stored in a type."""
    if kind == "f32":
        return values
    if kind == "f16":
        return values.astype(numpy.float16)
    if kind == "bf16":
        return pairs.to_bf16(values)
    if kind in own.ROWWISE:
        return session.wte.rowwise(kind, values)
    ggml = session.peer("ggml")
    return ggml and ggml.quantized(kind, values)


class Tables:
    """Tables of some types and one shape, with what all contenders share."""

    def __init__(self, session, shape, kinds, law):
        rows, self.cols = SHAPES[shape]
        self.session, self.shape = session, shape
        values = pairs.noise((KINDS, self.cols))
        stored = {kind: made(session, kind, values) for kind in kinds}
        self.table = {kind: pairs.tiled(array, rows) for kind, array in stored.items() if array is not None}
        self.source = {kind: session.wte.rows(kind, table, self.cols) for kind, table in self.table.items()}
        self.out = pairs.memory((IDS, self.cols), numpy.float32)
        self.batches = pairs.ids(rows, IDS, law)
        self.offsets = numpy.arange(IDS + 1, dtype=numpy.int64)

    def own(self, calls, name, kind, pool):
        self.session.own(calls, name, "lookups", self.source[kind], self.batches, self.out, pool)

    def fbgemm(self, calls, kind, pool, threads):
        fbgemm = self.session.peer("FBGEMM")
        for ahead in AHEAD[self.shape] if fbgemm else ():
            kernel = fbgemm.kernel(kind, self.cols, ahead)
            given = (kernel, self.table[kind], self.batches, self.offsets, self.out, pool, threads)
            calls[f"FBGEMM {kind}, {ahead} ahead"] = fbgemm.bags(*given)

    def ggml(self, calls, kind, threads):
        given = (kind, self.table[kind], self.cols, self.batches, self.out, threads)
        self.session.add(calls, f"ggml {kind}", "ggml", "lookups", *given)
        if kind in own.BLOCKS:
            self.session.add(calls, f"ggml native {kind}", "ggml native", "lookups", *given)

    def run(self, operation, calls):
        """Times, once all have written the same bits for the same type."""
        found = pairs.results(calls, self.out)
        for name, got in found.items():
            kind = next(kind for kind in self.table if kind in name)
            pairs.agree(f"{operation}: {name}", got, found[f"wte {kind}"], 0)
        times = pairs.alternate(calls)
        end(calls)
        return times


def f32(session, shape, law):
    operation = f"rows f32 {shape}" + (" zipf" if law == "zipf" else "")
    if not session.wants(operation):
        return
    tables = Tables(session, shape, ["f32"], law)
    torch = session.peer("PyTorch")
    for threads in (1, 2):
        own_pool, pool, calls = session.wte.pool(threads), session.native.pool(threads), {}
        tables.own(calls, "wte f32", "f32", own_pool)
        tables.fbgemm(calls, "f32", pool, threads)
        tables.ggml(calls, "f32", threads)
        if torch:
            calls["PyTorch f32"] = torch.index_select(tables.table["f32"], tables.batches, tables.out, threads)
        if threads == 1:
            table, out, batches = tables.table["f32"], tables.out, tables.batches
            calls["NumPy take f32"] = lambda i: numpy.take(table, batches[i], axis=0, out=out, mode="clip")
        pairs.report(operation, threads, tables.run(operation, calls), own="wte f32")


def narrow(session, shape):
    """f16 and bf16 beside each other: both are measured by FBGEMM's f16."""
    if not session.wants(f"rows f16 {shape}") and not session.wants(f"rows bf16 {shape}"):
        return
    tables = Tables(session, shape, ["bf16", "f16"], "uniform")
    for threads in (1, 2):
        own_pool, pool, calls = session.wte.pool(threads), session.native.pool(threads), {}
        for kind in ("f16", "bf16"):
            tables.own(calls, f"wte {kind}", kind, own_pool)
            tables.ggml(calls, kind, threads)
        tables.fbgemm(calls, "f16", pool, threads)
        times = tables.run(f"rows f16 and bf16 {shape}", calls)
        for kind in ("f16", "bf16"):
            pairs.report(f"rows {kind} {shape}", threads, times, own=f"wte {kind}")
        pairs.report(f"rows bf16 {shape}", threads, times, own="wte bf16", peers=["wte f16"])


def packed(session, shape, kind):
    operation = f"rows {kind} {shape}"
    if not session.wants(operation):
        return
    tables = Tables(session, shape, [kind], "uniform")
    if kind not in tables.table:
        return
    for threads in (1, 2):
        own_pool, pool, calls = session.wte.pool(threads), session.native.pool(threads), {}
        tables.own(calls, f"wte {kind}", kind, own_pool)
        if kind in own.ROWWISE:
            tables.fbgemm(calls, kind, pool, threads)
        else:
            tables.ggml(calls, kind, threads)
        pairs.report(operation, threads, tables.run(operation, calls), own=f"wte {kind}")


def main():
    session = Session(sys.argv)
    for shape in SHAPES:
        for law in ("uniform", "zipf"):
            f32(session, shape, law)
        narrow(session, shape)
        for kind in (*own.ROWWISE, *own.BLOCKS):
            packed(session, shape, kind)


if __name__ == "__main__":
    main()
