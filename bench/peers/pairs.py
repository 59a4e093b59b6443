"""Contenders in turn on the same work: memory, ids, agreement of their results, times, JSON lines.

Environment: WTE_BENCH_ROUNDS (31, at least 21; at least 7 for what takes longer than 0.3 s), WTE_BENCH_PAGES=plain (else
huge), WTE_BENCH_TRIAL=1 (two rounds: tries the scripts, measures nothing; its lines say so).
"""
import json
import mmap
import os
import random
import statistics
import time

import numpy

SLOW_SECONDS, SLOW_ROUNDS, LEAST_ROUNDS = 0.3, 7, 21
HUGE = 2 << 20
TRIAL = os.environ.get("WTE_BENCH_TRIAL") == "1"
PAGES = "plain" if os.environ.get("WTE_BENCH_PAGES") == "plain" else "huge"
BATCHES = 16


def memory(shape, dtype):
    """A zeroed array in touched pages of the kind asked for, aligned to 2 MiB; lives as long as the array."""
    size = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    block = mmap.mmap(-1, size + 2 * HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    block.madvise(mmap.MADV_HUGEPAGE if PAGES == "huge" else mmap.MADV_NOHUGEPAGE)
    raw = numpy.frombuffer(block, dtype=numpy.uint8)
    skip = -raw.ctypes.data % HUGE
    raw = raw[skip : skip + size]
    raw.fill(0)
    return raw.view(dtype).reshape(shape)


def tiled(kinds, rows):
    """So many rows that repeat those of `kinds`, whose number should divide nothing."""
    table = memory((rows,) + kinds.shape[1:], kinds.dtype)
    for first in range(0, rows, len(kinds)):
        table[first : first + len(kinds)] = kinds[: rows - first]
    return table


def noise(shape, seed=1):
    return numpy.random.default_rng(seed).standard_normal(shape, dtype=numpy.float32)


def to_bf16(values):
    """Rounded to nearest even; no NaN comes here."""
    bits = numpy.ascontiguousarray(values, dtype=numpy.float32).view(numpy.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(numpy.uint16)


def from_bf16(bits):
    return (bits.astype(numpy.uint32) << 16).view(numpy.float32)


def ids(rows, count, law, seed=12345):
    """BATCHES batches of ids, uniform or by Zipf's law with exponent 1 over randomly ordered rows."""
    random = numpy.random.default_rng(seed)
    if law == "uniform":
        return random.integers(0, rows, (BATCHES, count))
    total = numpy.cumsum(1.0 / numpy.arange(1, rows + 1))
    rank = numpy.searchsorted(total, random.random((BATCHES, count)) * total[-1])
    return random.permutation(rows)[numpy.minimum(rank, rows - 1)].astype(numpy.int64)


def results(calls, out):
    """What each contender writes for batch 0. One that makes its own output has `copies`, to bring it here; not while it is timed."""
    found = {}
    for name, call in calls.items():
        makes = hasattr(call, "copies")
        out.fill(0)
        if makes:
            call.copies = True
        call(0)
        if makes:
            call.copies = False
        found[name] = out.copy()
    return found


def agree(name, got, expected, tolerance):
    """Largest difference over the largest magnitude; more than the tolerance is an error. 0 asks for equal bits."""
    if tolerance == 0:
        if not numpy.array_equal(got.view(numpy.uint32), expected.view(numpy.uint32)):
            raise SystemExit(f"{name}: other bits")
        return 0.0
    scale = float(numpy.abs(expected).max())
    error = float(numpy.abs(got - expected).max()) / scale
    if not error <= tolerance:
        raise SystemExit(f"{name}: differs by {error:.2e} of the largest value, {tolerance:.0e} is allowed")
    return error


def rounds_for(seconds):
    if TRIAL:
        return 2
    asked = int(os.environ.get("WTE_BENCH_ROUNDS", "31"))
    return max(SLOW_ROUNDS, min(asked, SLOW_ROUNDS)) if seconds > SLOW_SECONDS else max(LEAST_ROUNDS, asked)


def alternate(calls):
    """Seconds of each contender, round by round. A call gets the number of the batch; batches never repeat in a row.

    The call that is timed comes after one of the same contender, so that it finds what its own kind leaves: in the caches
    (of the output above all), and of threads that still wait or spin. Each round has an order of its own. Measured, of four
    that are alike the last in a fixed order was 1.5 times as fast as the first.
    """
    turn, slowest = 0, 0.0
    for call in calls.values():  # warms up, and tells how many rounds there is time for
        for _ in range(2):
            start = time.perf_counter()
            call(turn % BATCHES)
            seconds, turn = time.perf_counter() - start, turn + 1
        slowest = max(slowest, seconds)
    times, order, luck = {name: [] for name in calls}, list(calls), random.Random(1)
    for _ in range(rounds_for(slowest)):
        luck.shuffle(order)
        for name in order:
            calls[name](turn % BATCHES)
            start = time.perf_counter()
            calls[name]((turn + 1) % BATCHES)
            times[name].append(time.perf_counter() - start)
            turn += 2
    return times


def report(operation, threads, times, own="wte", peers=None, **more):
    """One JSON line for each peer: ratio = its time / our time, so above 1 we are faster. Peers: who is not wte."""
    for peer in peers or [name for name in times if not name.startswith("wte")]:
        ratios = sorted(theirs / ours for theirs, ours in zip(times[peer], times[own]))
        line = {"bench": "targets", "operation": operation, "threads": threads, "pages": PAGES}
        line["ns"] = round(statistics.median(times[own]) * 1e9)
        line["peer"], line["peer_ns"] = peer, round(statistics.median(times[peer]) * 1e9)
        line["ratio"] = round(statistics.median(ratios), 3)
        n = len(ratios)
        line["ratio_quarters"] = [round(ratios[n // 4], 3), round(ratios[n - 1 - n // 4], 3)]
        line["ratio_range"] = [round(ratios[0], 3), round(ratios[-1], 3)]
        line["pairs"], line["commit"] = n, os.environ.get("WTE_COMMIT", "unknown")
        if TRIAL:
            line["trial"] = True
        print(json.dumps(line | more), flush=True)


def missing(what, why):
    """A peer that is not here, or a function that this build lacks; the table names it."""
    print(json.dumps({"bench": "targets", "missing": what, "why": str(why)[:200]}), flush=True)
