#!/usr/bin/env python3
"""Gradients of a table of 50257 x 768 by 8192 ids, and steps of optimizers: wte in turn with PyTorch and FBGEMM.

usage: targets_train.py libwte.so [PART OF AN OPERATION'S NAME...]

Ids uniform and by Zipf's law. "scatter" adds to a dense gradient that is kept, as PyTorch's index_add_ does; "sparse gradient"
makes a new one of the rows that are named, as PyTorch's coalesce does. "step" takes ids and what came back and changes the table;
PyTorch is given its sparse gradient, FBGEMM merges no duplicates. Adam with exact dense semantics, which has no peer, is
compared with PyTorch's lazy one. "bag step" is the way back through 4096 bags of 40 ids into a table of 1000000 x 128, and row-wise Adagrad.
Results are compared before the clock runs, where ids stand once. JSON lines, as pairs.py says.
"""
import ctypes
import sys

import numpy
import own
import pairs
from session import Session, end

ROWS, COLS, IDS = 50257, 768, 8192
# Of the largest sum: those of frequent ids have up to some hundred parts, added in another order.
TOLERANCE = 2e-5
LR = 1e-3


class Gradients:
    def __init__(self, session, law):
        self.session, self.law = session, law
        self.batches = pairs.ids(ROWS, IDS, law)
        self.d_out = pairs.memory((IDS, COLS), numpy.float32)
        self.d_out[:] = pairs.noise((IDS, COLS), seed=2)

    def numbers(self, grad):
        """The gradient's rows as an array that shares its memory, and their ids or None."""
        n, ids, values = self.session.wte.grad_rows(grad)
        array = numpy.ctypeslib.as_array(ctypes.cast(values, ctypes.POINTER(ctypes.c_float)), (n, COLS))
        return array, ids

    def scatter(self, threads):
        operation, wte, torch = f"train scatter {self.law}", self.session.wte, self.session.peer("PyTorch")
        grad, run = wte.gradients((ROWS, COLS), self.batches, self.d_out, wte.pool(threads))
        calls = {"wte": run}
        if torch:
            kept = pairs.memory((ROWS, COLS), numpy.float32)
            calls["PyTorch index_add_"] = torch.scatter((ROWS, COLS), self.batches, self.d_out, threads, kept)
            for call in calls.values():
                call(0)
            pairs.agree(operation, self.numbers(grad)[0], kept, TOLERANCE)
        pairs.report(operation, threads, pairs.alternate(calls))
        end(calls)

    def sparse(self, threads):
        operation, wte, torch = f"train sparse gradient {self.law}", self.session.wte, self.session.peer("PyTorch")
        grad, run = wte.gradients((ROWS, COLS), self.batches, self.d_out, wte.pool(threads), sparse=True)
        calls, found = {"wte": run}, {}
        if torch:
            calls["PyTorch coalesce"] = torch.coalesced((ROWS, COLS), self.batches, self.d_out, threads, found)
            for call in calls.values():
                call(0)
            array, ids = self.numbers(grad)
            if ids != found["sparse"].indices()[0].tolist():
                raise SystemExit(f"{operation}: other rows")
            pairs.agree(operation, array, found["sparse"].values().numpy(), TOLERANCE)
        pairs.report(operation, threads, pairs.alternate(calls))
        end(calls)


class Steps:
    """Optimizers: each contender has a table of its own."""

    def __init__(self, session, law, shape=(ROWS, COLS), ids=IDS, bag=0):
        self.session, self.law, self.bag = session, law, bag
        self.batches = pairs.ids(shape[0], ids, law)
        self.values = pairs.tiled(pairs.noise((1009, shape[1])), shape[0])
        self.d_out = pairs.memory((ids // bag if bag else ids, shape[1]), numpy.float32)
        self.d_out[:] = pairs.noise(self.d_out.shape, seed=2)
        self.offsets = numpy.arange(0, ids + 1, bag, dtype=numpy.int64) if bag else None

    def copied(self):
        """A peer's own table."""
        table = pairs.memory(self.values.shape, numpy.float32)
        table[:] = self.values
        return table

    def check(self, operation, tables, calls):
        """The rows of ids that stand once in the first batch, after one step."""
        for call in calls.values():
            call(0)
        ids, count = numpy.unique(self.batches[0], return_counts=True)
        once = ids[count == 1]
        for name, table in tables.items():
            pairs.agree(f"{operation} {name}", table[once], tables["wte"][once], TOLERANCE)

    def run(self, name, threads, contenders, settings, checked=True):
        """contenders: name: a function that makes (table, call)."""
        operation, wte = f"train {name} {self.law}", self.session.wte
        if not self.session.wants(operation):
            return
        tables, calls = {}, {}
        tables["wte"], calls["wte"] = wte.steps(
            self.values, self.batches, self.d_out, wte.pool(threads), self.bag, lr=LR, **settings
        )
        for peer, make in contenders.items():
            made = make(self.copied(), threads)
            if made:
                tables[peer], calls[peer] = made
        if checked:
            self.check(operation, tables, calls)
        pairs.report(operation, threads, pairs.alternate(calls))
        end(calls)

    def torch(self, kind, **settings):
        def make(table, threads):
            torch = self.session.peer("PyTorch")
            return torch and (table, torch.steps(table, self.d_out, self.batches, threads, kind, lr=LR, **settings))

        return make

    def fbgemm(self, rowwise, eps):
        def make(table, threads):
            fbgemm, pool = self.session.peer("FBGEMM"), self.session.native.pool(threads)
            state = pairs.memory((len(table), 1 if rowwise else table.shape[1]), numpy.float32)
            given = (table, state, self.d_out, self.batches, pool, threads, rowwise, LR, eps, self.offsets)
            return fbgemm and (table, fbgemm.steps(*given))

        return make

    def all(self, threads):
        lazy, fbgemm = {"PyTorch SparseAdam": self.torch("SparseAdam")}, self.fbgemm
        self.run("SGD step", threads, {"PyTorch SGD": self.torch("SGD")}, {"kind": own.wte.SGD})
        self.run("row-wise Adagrad step", threads, {"FBGEMM": fbgemm(True, 1e-8)}, {"kind": own.wte.ROWWISE_ADAGRAD})
        self.run("Adagrad step", threads, {"FBGEMM": fbgemm(False, 1e-10)}, {"kind": own.wte.ADAGRAD})
        self.run("lazy Adam step", threads, lazy, {"kind": own.wte.LAZY_ADAM})
        self.run("Adam step", threads, lazy, {"kind": own.wte.ADAM, "prepares": True}, checked=False)


def main():
    session = Session(sys.argv)
    for law in ("uniform", "zipf"):
        gradients = Gradients(session, law)
        for threads in (1, 2):
            if session.wants(f"train scatter {law}"):
                gradients.scatter(threads)
            if session.wants(f"train sparse gradient {law}"):
                gradients.sparse(threads)
        steps = Steps(session, law)
        for threads in (1, 2):
            steps.all(threads)
        bags = Steps(session, law, (1_000_000, 128), 4096 * 40, 40)
        for threads in (1, 2):
            bags.run("bag step", threads, {"FBGEMM": bags.fbgemm(True, 1e-8)}, {"kind": own.wte.ROWWISE_ADAGRAD})


if __name__ == "__main__":
    main()
