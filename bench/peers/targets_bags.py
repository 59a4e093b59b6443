#!/usr/bin/env python3
"""Bags of 40 ids over tables of 1M x 128: wte_bag_reduce in turn with FBGEMM and PyTorch.

usage: targets_bags.py libwte.so [PART OF AN OPERATION'S NAME...]

4096 bags a call; sum, mean, weighted sum and max; ids uniform and by Zipf's law. FBGEMM prefetches 16 ids ahead for its own
users, and 32 and 64 here too. The results of all are compared before the clock runs. JSON lines, as pairs.py says.
"""
import sys

import numpy
import own
import pairs
from session import Session
from targets_rows import KINDS, made

ROWS, COLS, BAGS, LENGTH = 1_000_000, 128, 4096, 40
TYPES = ("f32", "f16", "bf16", "int8", "int4")
AHEAD = (16, 32, 64)
# Of the largest value: sums of 40 numbers of the same sign pattern differ in their last bits by the order of fused steps.
TOLERANCE = 2e-6


class Bags:
    def __init__(self, session, law):
        self.session = session
        self.values = pairs.noise((KINDS, COLS))
        self.batches = pairs.ids(ROWS, BAGS * LENGTH, law)
        self.offsets = numpy.arange(0, BAGS * LENGTH + 1, LENGTH, dtype=numpy.int64)
        self.weights = numpy.random.default_rng(5).random(BAGS * LENGTH, dtype=numpy.float32)
        self.out = pairs.memory((BAGS, COLS), numpy.float32)

    def own(self, calls, table, kind, pool):
        source = self.session.wte.rows(kind, table, COLS)
        given = (source, self.batches, self.offsets, self.out, pool)
        self.session.own(calls, "wte sum", "bag_calls", *given)
        self.session.own(calls, "wte mean", "bag_calls", *given, mode=own.MEAN)
        self.session.own(calls, "wte weighted", "bag_calls", *given, weights=self.weights)
        self.session.own(calls, "wte max", "bag_calls", *given, mode=own.MAX)

    def fbgemm(self, calls, table, kind, pool, threads):
        fbgemm = self.session.peer("FBGEMM")
        given = (table, self.batches, self.offsets, self.out, pool, threads)
        for ahead in AHEAD if fbgemm and kind != "bf16" else ():  # of bf16 it has only its plain reference: 90 ms
            calls[f"FBGEMM sum, {ahead} ahead"] = fbgemm.bags(fbgemm.kernel(kind, COLS, ahead), *given)
        if fbgemm and kind != "bf16":
            calls["FBGEMM mean, 32 ahead"] = fbgemm.bags(fbgemm.kernel(kind, COLS, 32, mean=True), *given)
            kernel = fbgemm.kernel(kind, COLS, 32, weighted=True)
            calls["FBGEMM weighted, 32 ahead"] = fbgemm.bags(kernel, *given, weights=self.weights)

    def check(self, operation, calls):
        found = pairs.results(calls, self.out)
        for name, got in found.items():
            mode = name.split()[1].rstrip(",")
            if f"wte {mode}" in found:
                pairs.agree(f"{operation} {name}", got, found[f"wte {mode}"], TOLERANCE)

    def run(self, kind, law, table):
        torch = self.session.peer("PyTorch") if kind == "f32" else None
        operation = f"bags {kind} {law}"
        for threads in (1, 2):
            own_pool, pool, calls = self.session.wte.pool(threads), self.session.native.pool(threads), {}
            self.own(calls, table, kind, own_pool)
            self.fbgemm(calls, table, kind, pool, threads)
            if torch:
                for mode in ("sum", "max"):
                    given = (table, self.batches, self.offsets, self.out, threads, mode)
                    calls[f"PyTorch {mode}"] = torch.bags(*given)
            self.check(operation, calls)
            self.report(operation, threads, pairs.alternate(calls))

    @staticmethod
    def report(operation, threads, times):
        for mode in ("sum", "mean", "weighted", "max"):
            name = f"wte {mode}"
            if name not in times:
                continue
            peers = [peer for peer in times if peer.split()[1].rstrip(",") == mode and peer != name]
            if mode != "sum" and "wte sum" in times:
                peers.append("wte sum")
            if peers:
                pairs.report(f"{operation} {mode}", threads, times, own=name, peers=peers)


def both(session, bags, law):
    """bf16 beside f16: the same bytes, so the same time is asked for."""
    operation = f"bags bf16 {law} sum"
    if not session.wants(operation):
        return
    tables = {kind: pairs.tiled(made(session, kind, bags.values), ROWS) for kind in ("f16", "bf16")}
    for threads in (1, 2):
        pool, calls = session.wte.pool(threads), {}
        for kind, table in tables.items():
            source = session.wte.rows(kind, table, COLS)
            session.own(calls, f"wte {kind} sum", "bag_calls", source, bags.batches, bags.offsets, bags.out, pool)
        if len(calls) == len(tables):
            pairs.report(operation, threads, pairs.alternate(calls), own="wte bf16 sum", peers=["wte f16 sum"])


def main():
    session = Session(sys.argv)
    for law in ("uniform", "zipf"):
        bags = Bags(session, law)
        for kind in TYPES:
            if session.wants(f"bags {kind} {law}"):
                bags.run(kind, law, pairs.tiled(made(session, kind, bags.values), ROWS))
        both(session, bags, law)


if __name__ == "__main__":
    main()
