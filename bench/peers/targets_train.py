#!/usr/bin/env python3
"""Gradients of a table of 50257 x 768 by 8192 ids: wte in turn with PyTorch.

usage: targets_train.py libwte.so [PART OF AN OPERATION'S NAME...]

Ids uniform and by Zipf's law. "scatter" adds to a dense gradient that is kept, as PyTorch's index_add_ does; "sparse gradient"
makes a new one of the rows that are named, as PyTorch's coalesce does. Results are compared before the clock runs. JSON lines,
as pairs.py says.
"""
import ctypes
import sys

import numpy
import pairs
from session import Session, end

ROWS, COLS, IDS = 50257, 768, 8192
# Of the largest sum: those of frequent ids have up to some hundred parts, added in another order.
TOLERANCE = 2e-5


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


def main():
    session = Session(sys.argv)
    for law in ("uniform", "zipf"):
        gradients = Gradients(session, law)
        for threads in (1, 2):
            if session.wants(f"train scatter {law}"):
                gradients.scatter(threads)
            if session.wants(f"train sparse gradient {law}"):
                gradients.sparse(threads)


if __name__ == "__main__":
    main()
