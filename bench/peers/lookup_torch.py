#!/usr/bin/env python3
"""Row lookup: wte_lookup against PyTorch's index_select(out=) and NumPy's take(out=, mode='clip').

    lookup_torch.py libwte.so [SHAPE...]       SHAPE: 50257x768, 128000x4096; default both

All run in this process, in turn, on one table, one output and the same batches of ids; table and output lie on huge
pages (made by wte_table_create). Prints JSON lines like bench_lookup: ratio = peer's time / wte's time, so above 1 wte
is faster; the median of WTE_BENCH_ROUNDS (31) pairs, with the range. Exit 77 when PyTorch or NumPy is absent.
"""
import ctypes
import json
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
import oracle_wte as wte  # noqa: E402  (the path comes first)

IDS, BATCHES = 8192, 16
SHAPES = {"50257x768": (50257, 768), "128000x4096": (128000, 4096)}
ROUNDS = max(21, int(os.environ.get("WTE_BENCH_ROUNDS", "31")))


def zipf(numpy, random, rows, count):
    """Zipf's law with exponent 1 over randomly ordered rows."""
    total = numpy.cumsum(1.0 / numpy.arange(1, rows + 1))
    rank = numpy.searchsorted(total, random.random(count) * total[-1])
    return random.permutation(rows)[numpy.minimum(rank, rows - 1)].astype(numpy.int64)


class Memory:
    """A matrix of f32 made by wte_table_create, seen by NumPy and PyTorch without a copy."""

    def __init__(self, library, numpy, torch, rows, dim, fill):
        self.library, self.table = library, ctypes.c_void_p()
        library.call("table_create", rows, dim, wte.F32, None, ctypes.byref(self.table))
        if fill:
            options = wte.InitOptions(struct_size=ctypes.sizeof(wte.InitOptions), kind=wte.UNIFORM)
            library.call("table_init", self.table, ctypes.byref(options))
        self.address = library.lib.wte_table_data(self.table)
        buffer = (ctypes.c_float * (rows * dim)).from_address(self.address)
        self.numpy = numpy.frombuffer(buffer, dtype=numpy.float32).reshape(rows, dim)
        self.torch = torch.from_numpy(self.numpy)

    def free(self):
        self.library.lib.wte_table_free(self.table)


# OpenMP's threads spin for milliseconds after a call and take a processor from whoever is timed next; they shall
# sleep instead. Set before torch is loaded.
os.environ.setdefault("GOMP_SPINCOUNT", "0")


def timed(call, batch):
    start = time.perf_counter()
    call(batch)
    return time.perf_counter() - start


def report(case, times, peers, row_bytes):
    own = statistics.median(times["wte"])
    for peer in peers:
        ratios = [theirs / ours for theirs, ours in zip(times[peer], times["wte"])]
        line = {"bench": "lookup_torch", "case": case, "ns": round(own * 1e9)}
        line["gb_s"] = round(IDS * row_bytes / own * 1e-9, 2)
        line["peer"], line["peer_ns"] = peer, round(statistics.median(times[peer]) * 1e9)
        line["ratio"] = round(statistics.median(ratios), 3)
        line["ratio_range"] = [round(min(ratios), 3), round(max(ratios), 3)]
        line["pairs"], line["commit"] = len(ratios), os.environ.get("WTE_COMMIT", "unknown")
        print(json.dumps(line), flush=True)


def compare(library, numpy, torch, table, out, batches, threads):
    """Seconds of each contender, round by round."""
    rows = wte.Rows(rows=table.numpy.shape[0], cols=table.numpy.shape[1], dtype=wte.F32, data=table.address)
    rows.row_bytes = 4 * rows.cols
    pool = library.pool(threads)
    tensors = [torch.from_numpy(batch) for batch in batches]
    given = [wte.Ids(data=batch.ctypes.data, type=wte.I64, count=IDS) for batch in batches]
    contenders = {
        "wte": lambda i: library.lookup(rows, given[i], out.address, pool),
        "torch.index_select(out=)": lambda i: torch.index_select(table.torch, 0, tensors[i], out=out.torch),
    }
    if threads == 1:  # NumPy has no threads
        contenders["numpy.take(out=, mode='clip')"] = lambda i: numpy.take(
            table.numpy, batches[i], axis=0, out=out.numpy, mode="clip"
        )
    for call in contenders.values():
        out.numpy.fill(0)
        call(0)
        if not numpy.array_equal(out.numpy, table.numpy[batches[0]]):
            sys.exit("wrong rows")
    times = {name: [] for name in contenders}
    turn = 0
    for round_number in range(ROUNDS + 2):  # two to warm up
        for name, call in contenders.items():
            seconds = timed(call, turn % BATCHES)
            turn += 1
            if round_number >= 2:
                times[name].append(seconds)
    library.lib.wte_pool_free(pool)
    return times


def main():
    try:
        import numpy
        import torch
    except ImportError as missing:
        print(f"skipped: {sys.executable} lacks a peer ({missing})", file=sys.stderr)
        return wte.SKIPPED
    library = wte.Library(sys.argv[1])
    for shape in sys.argv[2:] or SHAPES:
        rows, dim = SHAPES[shape]
        table = Memory(library, numpy, torch, rows, dim, True)
        out = Memory(library, numpy, torch, IDS, dim, False)
        random = numpy.random.default_rng(12345)
        draws = {"uniform": random.integers(0, rows, BATCHES * IDS), "zipf": zipf(numpy, random, rows, BATCHES * IDS)}
        for law, ids in draws.items():
            for threads in (1, 2):
                torch.set_num_threads(threads)
                times = compare(library, numpy, torch, table, out, list(ids.reshape(BATCHES, IDS)), threads)
                case = f"f32 {rows} x {dim}, {IDS} ids, {law}, {threads} threads"
                report(case, times, [name for name in times if name != "wte"], 4 * dim)
        out.free()
        table.free()
    return 0


if __name__ == "__main__":
    sys.exit(main())
