#!/usr/bin/env python3
"""wte_nearest and wte_diff_rows against a live NumPy: brute force in float64.

    oracle_near.py libwte.so

Scores must lie within the roundings of f32 sums of what NumPy finds, and no row may be left out that is nearer than the
farthest hit by more than that. Changes of rows are compared with NumPy's norms. Exit 0: all agree; 1: some do not (they
are printed); 77: no NumPy here.
"""
import ctypes as c
import sys

import oracle_wte as wte

SHAPES = [(1, 1), (50, 3), (200, 31), (1000, 128), (5000, 384), (700, 1000), (300, 4096)]
METRICS = ["cosine", "dot", "euclid"]
TOP = 15


class NearOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("metric", c.c_int),
        ("top", c.c_uint32),
        ("exclude", c.c_void_p),
        ("n_exclude", c.c_uint64),
        ("own", c.c_void_p),
        ("report", c.c_void_p),
        ("pool", c.c_void_p),
        ("progress", c.c_void_p),
        ("allocator", c.c_void_p),
    ]


class Hit(c.Structure):
    _fields_ = [("row", c.c_uint64), ("score", c.c_double)]


class RowChange(c.Structure):
    _fields_ = [("a", c.c_uint64), ("b", c.c_uint64), ("change", c.c_int), ("reserved", c.c_uint32)]
    _fields_ += [(name, c.c_double) for name in ("distance", "relative", "largest", "cosine", "norm_a", "norm_b")]


class Diff(c.Structure):
    _fields_ = [("count", c.c_uint64 * 8)]
    _fields_ += [(name, c.c_uint64) for name in ("compared", "only_in_b", "changed", "first_changed")]
    _fields_ += [("same", c.c_bool), ("decade", c.c_uint64 * 8), ("cosine_limit", c.c_double), ("n_most", c.c_uint64)]


class DiffOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("b_of", c.c_void_p), ("changes", c.c_void_p), ("most", c.c_void_p)]
    _fields_ += [("max_most", c.c_uint64), ("pool", c.c_void_p), ("progress", c.c_void_p), ("allocator", c.c_void_p)]


class Comparison:
    def __init__(self, numpy, library):
        self.np, self.library = numpy, library
        self.types = {"float32": wte.F32, "float16": wte.F16, "float64": wte.F64}
        self.pool = library.pool(2)
        self.random = numpy.random.RandomState(1)
        self.done, self.wrong = 0, 0

    def expect(self, right, what):
        self.done += 1
        if not right:
            self.wrong += 1
            print(f"DIFFERENT {what}")

    def rows(self, table):
        return wte.Rows(rows=table.shape[0], cols=table.shape[1], dtype=self.types[str(table.dtype)], data=table.ctypes.data,
                        row_bytes=table.shape[1] * table.itemsize)

    def near(self, table, queries, metric):
        hits = (Hit * (len(queries) * TOP))()
        options = NearOptions(struct_size=c.sizeof(NearOptions), metric=METRICS.index(metric), top=TOP, pool=self.pool)
        self.library.call("nearest", c.byref(self.rows(table)), c.c_void_p(queries.ctypes.data), c.c_uint64(len(queries)),
                          c.c_uint64(queries.shape[1]), c.byref(options), hits)
        return [[(h.row, h.score) for h in hits[i * TOP:(i + 1) * TOP] if h.row != 2**64 - 1] for i in range(len(queries))]

    def scores(self, x, q, metric):
        """Greater is nearer; and what the roundings of f32 may add up to."""
        np = self.np
        products, lengths = x @ q, np.linalg.norm(x, axis=1) * np.linalg.norm(q)
        bound = (x.shape[1] / 32 + 8) * 2.0**-24
        if metric == "dot":
            return products, bound * (np.abs(x) @ np.abs(q))
        if metric == "cosine":
            return products / lengths, np.full(len(x), 3 * bound)
        distance = np.linalg.norm(x - q, axis=1)
        return -distance, bound * distance + 1e-30

    def compare_near(self, table, metric):
        np = self.np
        wide = table.astype(np.float32).astype(np.float64)
        queries = np.ascontiguousarray(wide[[0, len(wide) // 2]] + [[0], [0.01]], dtype=np.float32)
        for query, hits in zip(queries, self.near(table, queries, metric)):
            scores, bound = self.scores(wide, query.astype(np.float64), metric)
            got = np.array([row for row, _ in hits])
            score = np.array([s for _, s in hits]) * (-1 if metric == "euclid" else 1)
            left = np.setdiff1d(np.arange(len(wide)), got)
            what = f"near by {metric} in {table.shape} {table.dtype}"
            self.expect(len(set(got)) == min(TOP, len(wide)), f"{what}: number of hits")
            self.expect((np.abs(score - scores[got]) <= bound[got]).all(), f"{what}: scores")
            self.expect((np.diff(score) <= 0).all(), f"{what}: order")
            self.expect(len(left) == 0 or (scores[left] - bound[left]).max() <= score[-1], f"{what}: a row left out")

    def compare_diff(self, shape, type_a, type_b):
        np = self.np
        a = self.random.normal(size=shape).astype(type_b).astype(type_a)
        b = a.astype(type_b)
        b[::3] += self.random.normal(size=b[::3].shape).astype(type_b)
        most, diff = (RowChange * TOP)(), Diff()
        options = DiffOptions(struct_size=c.sizeof(DiffOptions), most=c.addressof(most), max_most=TOP, pool=self.pool)
        self.library.call("diff_rows", c.byref(self.rows(a)), c.byref(self.rows(b)), c.byref(options), c.byref(diff))
        x, y = a.astype(np.float64), b.astype(np.float64)
        distance = np.linalg.norm(y - x, axis=1)
        what = f"diff of {shape} {type_a} {type_b}"
        self.expect(diff.changed == (distance > 0).sum(), f"{what}: rows that changed")
        self.expect(diff.count[0 if type_a == type_b else 1] == (distance == 0).sum(), f"{what}: rows that did not")
        order = np.argsort(-distance, kind="stable")[:diff.n_most]
        self.expect([m.a for m in most[:diff.n_most]] == list(order), f"{what}: the rows that moved farthest")
        for m in most[:diff.n_most]:
            u, v = x[m.a], y[m.a]
            want = [distance[m.a], distance[m.a] / np.linalg.norm(u), np.abs(v - u).max(),
                    u @ v / np.linalg.norm(u) / np.linalg.norm(v), np.linalg.norm(u), np.linalg.norm(v)]
            got = [m.distance, m.relative, m.largest, m.cosine, m.norm_a, m.norm_b]
            self.expect(np.allclose(got, want, rtol=1e-12, atol=1e-14), f"{what}: row {m.a}: {got}, not {want}")


def main():
    try:
        import numpy
    except ImportError:
        print("skipped: this Python has no NumPy")
        sys.exit(wte.SKIPPED)
    comparison = Comparison(numpy, wte.Library(sys.argv[1]))
    for shape in SHAPES:
        for dtype in comparison.types:
            table = (comparison.random.normal(size=shape) + 0.1).astype(dtype)
            for metric in METRICS:
                comparison.compare_near(table, metric)
        comparison.compare_diff(shape, "float32", "float32")
        comparison.compare_diff(shape, "float64", "float16")
    print(f"{comparison.done} comparisons, {comparison.wrong} different, NumPy {numpy.__version__}")
    sys.exit(comparison.wrong != 0)


main()
