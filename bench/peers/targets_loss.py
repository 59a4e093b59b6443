#!/usr/bin/env python3
"""Cross-entropy of 512 targets over a table of 50257 x 768: wte_head_loss in turn with its own product, and PyTorch.

usage: targets_loss.py libwte.so [PART OF AN OPERATION'S NAME...]

Forward, and forward with both gradients. Losses and gradients are compared with PyTorch's before the clock runs. The memory that
a call takes beside the gradients is read from the process: also for 262144 rows. JSON lines, as pairs.py says.
"""
import ctypes as c
import json
import pathlib
import sys

import numpy
import own
import pairs
from session import Session

COUNT, DIM, WORK = 512, 768, 64 << 20
ROWS, MANY_ROWS = 50257, 262144


class Task:
    def __init__(self, session, rows):
        random = numpy.random.default_rng(7)
        self.session, self.rows = session, rows
        self.table = pairs.memory((rows, DIM), numpy.float32)
        self.table[:] = random.standard_normal((rows, DIM), dtype=numpy.float32)
        self.table *= 0.05  # losses of some 8 to 12, as models have
        self.hidden = pairs.memory((COUNT, DIM), numpy.float32)
        self.hidden[:] = random.standard_normal((COUNT, DIM), dtype=numpy.float32)
        self.targets = random.integers(0, rows, COUNT)
        self.gradients = pairs.memory((COUNT, DIM), numpy.float32), pairs.memory((rows, DIM), numpy.float32)
        self.source = session.wte.rows("f32", self.table, DIM)

    def losses(self, pool, gradients):
        given = (self.source, self.hidden, self.targets, pool, self.gradients if gradients else ())
        return self.session.wte.losses(*given)


def peak_above(call):
    """Bytes that the process holds at most during a call, above what it held before."""
    status, reset = pathlib.Path("/proc/self/status"), pathlib.Path("/proc/self/clear_refs")

    def kibibytes(key):
        return int(next(line for line in status.read_text().splitlines() if line.startswith(key)).split()[1])

    c.CDLL(None).malloc_trim(0)  # what earlier calls freed is not to be held, or this one would seem to take nothing
    reset.write_text("5")
    before = kibibytes("VmRSS:")
    call(0)
    return (kibibytes("VmHWM:") - before) * 1024


def compare(operation, task, found, theirs, gradients):
    """Both have run once, ours with gradients that began as zeros."""
    pairs.agree(f"{operation}: loss", numpy.float32([found.loss]), numpy.float32([theirs["loss"]]), 2e-6)
    if gradients:
        pairs.agree(f"{operation}: d_hidden", task.gradients[0], theirs["d_hidden"], 2e-5)
        pairs.agree(f"{operation}: d_table", task.gradients[1], theirs["d_table"], 2e-5)


def run(session, task, gradients, threads):
    operation = "loss and gradients" if gradients else "loss"
    pool, peer = session.wte.pool(threads), session.torch("1")
    torch = session.peer(peer)
    out = pairs.memory((COUNT, ROWS), numpy.float32)
    found, call = task.losses(pool, gradients)
    calls = {"wte loss": call}
    task.gradients[1].fill(0)
    call(0)
    if torch:
        theirs, calls[peer] = torch.losses(task.table, task.hidden, task.targets, threads, gradients)
        calls[peer].copies = True
        calls[peer](0)
        calls[peer].copies = False
        compare(operation, task, found, theirs, gradients)
    session.own(calls, "wte product", "logits", task.source, task.hidden, out, pool, own.EXACT)
    peers = [name for name in calls if name != "wte loss"]
    pairs.report(operation, threads, pairs.alternate(calls), own="wte loss", peers=peers)


def memory(session, rows):
    """What a call says that it needs, and what it takes. The ratio is the allowed bytes over those taken."""
    task = Task(session, rows)
    for gradients in (False, True):
        _, call = task.losses(session.wte.pool(2), gradients)
        if not gradients:
            call(0)  # what is loaded and allocated once
        least, best = session.wte.loss_work(task.source, task.hidden, task.gradients if gradients else ())
        line = {"bench": "targets", "operation": f"loss memory{' with gradients' if gradients else ''} {rows} rows"}
        line |= {"threads": 2, "least": least, "best": best, "bytes": max(1, peak_above(call)), "peer": "limit: 64 MiB"}
        ratio = round(WORK / line["bytes"], 3)
        print(json.dumps(line | {"ratio": ratio, "ratio_range": [ratio, ratio], "pairs": 1}), flush=True)


def main():
    session = Session(sys.argv)
    try:
        if session.wants("loss"):
            task = Task(session, ROWS)
            for gradients in (False, True):
                for threads in (1, 2):
                    run(session, task, gradients, threads)
            del task
        for rows in (ROWS, MANY_ROWS):
            if session.wants("loss memory"):
                memory(session, rows)
    except AttributeError as error:
        pairs.missing("wte loss", error)


if __name__ == "__main__":
    main()
