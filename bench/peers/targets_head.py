#!/usr/bin/env python3
"""The output head: wte_head_logits and wte_head_topk in turn with oneDNN, onnxruntime, ggml, OpenBLAS, NumKong, PyTorch,
FBGEMM.

usage: targets_head.py libwte.so [PART OF AN OPERATION'S NAME...]

Logits of 1, 8 and 512 hidden vectors of f32 over a table of 50257 x 768 of every type, exact and fast; for one vector the
plain reading of the same bytes too, which is a limit. Peers that pack the table have done so before the clock runs; their
results are compared with ours: 2e-6 of the largest logit where all is f32, 2e-2 where hidden vectors are rounded to bf16 or
int8. ggml repacks rows by eights: it has the first 50256. JSON lines, as pairs.py says.

WTE_BENCH_SHAPE=128000x4096 is a table of another shape, which the operations' names then have: name some, since all of
them would take an hour. A table beyond 1 GiB meets oneDNN packed and ggml alone: 128000 x 4096 of f32 takes 5 GiB with them.
"""
import os
import sys

import numpy
import own
import pairs
from session import Session, end
from targets_rows import KINDS, made

SHAPE = os.environ.get("WTE_BENCH_SHAPE", "50257x768")
ROWS, DIM = (int(size) for size in SHAPE.split("x"))
BESIDE = "" if SHAPE == "50257x768" else f"{SHAPE} "
TOP, LARGE = 50, 1 << 30
TYPES = ("f32", "bf16", "q8_0", "q4_0", "q4_k", "q6_k")
COUNTS = (1, 8, 512)
MANY = 512
TOLERANCE = {"f32": 2e-6}
ROUNDED = 2e-2


class Head:
    def __init__(self, session, kind):
        self.session, self.kind = session, kind
        self.values = pairs.noise((KINDS, DIM))
        stored = made(session, kind, self.values)
        self.table = None if stored is None else pairs.tiled(stored, ROWS)

    def hidden(self, n):
        values = pairs.memory((n, DIM), numpy.float32)
        values[:] = pairs.noise((n, DIM), seed=3)
        return values

    def own(self, calls, name, kind, table, hidden, out, pool):
        source = self.session.wte.rows(kind, table, DIM)
        for precision, number in (("exact", own.EXACT), ("fast", own.FAST)):
            self.session.own(calls, f"{name} {precision}", "logits", source, hidden, out, pool, number)

    def dense(self, calls, hidden, out, threads):
        """Peers for f32 and bf16."""
        given, small = pairs.to_bf16(hidden) if self.kind == "bf16" else hidden, self.table.nbytes <= LARGE
        for name, packed in (("oneDNN", False), ("oneDNN packed", True)):
            if packed or small:
                self.session.add(calls, name, "oneDNN", "logits", self.table, given, out, threads, packed)
        if not small:
            return
        if self.kind == "f32":
            for peer in ("OpenBLAS", self.session.torch("2")):
                self.session.add(calls, peer, peer, "logits", self.table, hidden, out, threads)
            self.session.add(calls, "onnxruntime", "onnxruntime", "logits", "f32", self.table, hidden, out, threads)
        elif len(hidden) < MANY:
            wide = pairs.from_bf16(self.table)
            self.session.add(calls, "FBGEMM f16", "PyTorch 2", "f16_logits", wide, hidden, out, threads)
        if self.kind == "bf16" and threads == 1:
            self.session.add(calls, "NumKong packed", "NumKong", "logits", self.table, given, out)

    def blocks(self, calls, hidden, out, threads):
        """Peers for blocks; ggml's repacked table is shorter, so that its logits lie elsewhere."""
        if self.kind in ("q8_0", "q4_0"):
            self.session.add(calls, "onnxruntime", "onnxruntime", "logits", self.kind, self.table, hidden, out, threads)
        if self.kind in ("q4_0", "q4_k"):
            fewer = self.table[: ROWS // 8 * 8]
            shorter = out.reshape(-1)[: len(hidden) * len(fewer)].reshape(len(hidden), -1)
            self.session.add(calls, "ggml repacked", "ggml", "repacked_logits", self.kind, fewer, hidden, shorter, threads)

    def check(self, operation, calls, out):
        n, fewer = len(out), ROWS // 8 * 8
        found = pairs.results({name: call for name, call in calls.items() if not name.startswith("limit")}, out)
        for name, got in found.items():
            expected = found["wte exact"]
            if name == "ggml repacked":
                got, expected = got.reshape(-1)[: n * fewer].reshape(n, -1), expected[:, :fewer]
            same = self.kind == "f32" and name != "wte fast"
            if name != "wte bf16 fast":  # another table
                pairs.agree(f"{operation}: {name}", got, expected, TOLERANCE["f32"] if same else ROUNDED)

    def run(self, n, threads, beside):
        """beside: a table of bf16, by which the products of blocks are measured too, or None."""
        operation = f"head {self.kind} {BESIDE}n={n}"
        own_pool, pool, calls = self.session.wte.pool(threads), self.session.native.pool(threads), {}
        hidden, out = self.hidden(n), pairs.memory((n, ROWS), numpy.float32)
        self.own(calls, "wte", self.kind, self.table, hidden, out, own_pool)
        if beside is not None:
            source = self.session.wte.rows("bf16", beside, DIM)
            self.session.own(calls, "wte bf16 fast", "logits", source, hidden, out, own_pool, own.FAST)
        (self.blocks if self.kind in own.BLOCKS else self.dense)(calls, hidden, out, threads)
        self.session.add(calls, "ggml", "ggml", "logits", self.kind, self.table, hidden, out, threads)
        if n == 1:
            calls.update(self.session.native.reads(self.table, pool))
        self.check(operation, calls, out)
        times = pairs.alternate(calls)
        end(calls)
        for name in ("wte exact", "wte fast"):
            if name in times:
                pairs.report(f"{operation} {name[4:]}", threads, times, own=name)
        if "wte fast" in times:
            pairs.report(f"{operation} exact", threads, times, own="wte exact", peers=["wte fast"])
        if "wte bf16 fast" in times:
            pairs.report(f"{operation} fast", threads, times, own="wte fast", peers=["wte bf16 fast"])


def top(session):
    """Logits with the best 50, never all held, beside the product alone."""
    if not any(session.wants(f"top {TOP} f32 {BESIDE}n={n}") for n in (1, 512)):
        return
    head = Head(session, "f32")
    head.table = pairs.memory((ROWS, DIM), numpy.float32)
    head.table[:] = pairs.noise((ROWS, DIM), seed=5)  # no two rows alike: ties would be passed over
    source = session.wte.rows("f32", head.table, DIM)
    for n in (1, 512):
        operation, hidden = f"top {TOP} f32 {BESIDE}n={n}", head.hidden(n)
        if not session.wants(operation):
            continue
        out = pairs.memory((n, ROWS), numpy.float32)
        for threads in (1, 2):
            pool, calls = session.wte.pool(threads), {}
            ranked, call = session.wte.top(source, hidden, TOP, pool, own.EXACT)
            calls["wte top"] = call
            session.own(calls, "wte product", "logits", source, hidden, out, pool, own.EXACT)
            for call in calls.values():
                call(0)
            best = numpy.sort(out[0])[::-1][:TOP]
            if not numpy.array_equal(best, numpy.array([ranked[i].logit for i in range(TOP)], dtype=numpy.float32)):
                raise SystemExit(f"{operation}: not the largest logits")
            pairs.report(operation, threads, pairs.alternate(calls), own="wte top", peers=["wte product"])


def main():
    session = Session(sys.argv)
    beside = pairs.tiled(pairs.to_bf16(pairs.noise((KINDS, DIM))), ROWS)
    for kind in TYPES:
        counts = [n for n in COUNTS if session.wants(f"head {kind} {BESIDE}n={n}")]
        head = Head(session, kind) if counts else None
        if head and head.table is not None:
            for n in counts:
                for threads in (1, 2):
                    head.run(n, threads, beside if n == 512 and kind in own.BLOCKS else None)
    try:
        top(session)
    except AttributeError as error:
        pairs.missing("wte top", error)


if __name__ == "__main__":
    main()
