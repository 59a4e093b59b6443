#!/usr/bin/env python3
"""Rows of block-quantised tables: wte_lookup against ggml's get_rows.

usage: lookup_ggml.py libwte.so [TYPE...]     TYPE: q8_0, q4_k, ...; default all of TYPES
       lookup_ggml.py --fetch                 ggml's libraries from npm's package of node-llama-cpp, pinned, to .cache

Both take 8192 rows, at random, of one table of 128000 x 4096 in memory and write them as f32 to one output, in turn, on
one thread and on two. Of ggml's libraries that one computes which it rates highest for this processor. The results are compared bit for bit before the
clock runs. Prints JSON lines like bench_lookup: ratio = ggml's time / wte's, so above 1 wte is faster. Exit 77 when
ggml's libraries (--fetch) or NumPy are absent.
"""
import base64
import ctypes as c
import hashlib
import json
import os
import pathlib
import statistics
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import oracle_wte as wte  # noqa: E402  (the path comes first)

PACKAGE = "@node-llama-cpp/linux-x64@3.22.1"
SHA512 = "5uCCDNqWCNfaAm8aR/Uzxbo4HBpKgNF91kCHPepKhgMgV2OAmatoefbOlMihsqCiH2Od35E/eUHQCFbfRBJuOg=="
PLACE = ROOT / ".cache/peers/ggml"
ROWS, DIM, IDS, BATCHES, KINDS = 128000, 4096, 8192, 16, 250
ROUNDS = max(21, int(os.environ.get("WTE_BENCH_ROUNDS", "31")))
F32, I32 = 0, 26
# ggml's numbers of the types
TYPES = {"q8_0": 8, "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q2_k": 10, "q3_k": 11, "q4_k": 12, "q5_k": 13, "q6_k": 14,
         "iq4_nl": 20, "iq4_xs": 23, "iq3_s": 21, "tq2_0": 35, "mxfp4": 39}
DATA_AT = 248  # of the field `data` in ggml_tensor; checked before use


def fetch():
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=scratch, check=True, stdout=subprocess.DEVNULL)
        archive = next(pathlib.Path(scratch).glob("*.tgz"))
        if base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode() != SHA512:
            sys.exit("lookup_ggml: the package is not the pinned one; nothing was unpacked")
        PLACE.mkdir(parents=True, exist_ok=True)
        with tarfile.open(archive) as packed:
            for member in packed.getmembers():
                name = pathlib.PurePosixPath(member.name).name
                if member.isfile() and name.startswith("libggml-"):
                    (PLACE / name).write_bytes(packed.extractfile(member).read())
    print(f"lookup_ggml: {len(list(PLACE.glob('*.so')))} libraries in {PLACE.relative_to(ROOT)}")


class InitParams(c.Structure):
    _fields_ = [("mem_size", c.c_size_t), ("mem_buffer", c.c_void_p), ("no_alloc", c.c_bool)]


class Plan(c.Structure):
    _fields_ = [("work_size", c.c_size_t), ("work_data", c.c_void_p), ("n_threads", c.c_int), ("rest", c.c_void_p * 8)]


class PoolParams(c.Structure):
    _fields_ = [("bytes", c.c_ubyte * 1024)]  # larger than ggml's; only passed on


class Ggml:
    """get_rows of one table, ids and output that lie where they lie."""

    def __init__(self, place=PLACE):
        self.base = c.CDLL(str(place / "libggml-base.so"))
        choice = sorted(place.glob("libggml-cpu*.so"))
        best = max(choice, key=self.score) if len(choice) > 1 else choice[0]
        self.name, self.cpu = best.name, c.CDLL(str(best))
        for name in ("init", "new_tensor_2d", "new_tensor_1d", "get_rows", "new_graph", "get_data"):
            getattr(self.base, "ggml_" + name).restype = c.c_void_p
        self.base.ggml_init.argtypes = [InitParams]
        self.base.ggml_quantize_chunk.restype = c.c_size_t
        self.base.ggml_quantize_chunk.argtypes = [c.c_int, c.c_void_p, c.c_void_p] + [c.c_int64] * 3 + [c.c_void_p]
        self.cpu.ggml_graph_plan.restype = Plan
        self.cpu.ggml_graph_plan.argtypes = [c.c_void_p, c.c_int, c.c_void_p]
        self.cpu.ggml_threadpool_new.restype = c.c_void_p
        self.base.ggml_threadpool_params_default.restype = PoolParams
        self.cpu.ggml_cpu_init()

    @staticmethod
    def score(path):
        return c.CDLL(str(path)).ggml_backend_score()

    def tensor(self, made, address):
        c.c_void_p.from_address(made + DATA_AT).value = address
        self.base.ggml_get_data.argtypes = [c.c_void_p]
        if self.base.ggml_get_data(made) != address:
            sys.exit("lookup_ggml: this ggml lays tensors out differently")
        return c.c_void_p(made)

    def prepare(self, kind, table, ids, out, threads):
        context = c.c_void_p(self.base.ggml_init(InitParams(64 << 20, None, True)))
        size = (c.c_int64(DIM), c.c_int64(ROWS))
        weights = self.tensor(self.base.ggml_new_tensor_2d(context, kind, *size), table)
        graphs = []
        for address in ids:
            asked = self.tensor(self.base.ggml_new_tensor_1d(context, I32, c.c_int64(IDS)), address)
            taken = self.tensor(self.base.ggml_get_rows(context, weights, asked), out)
            graph = c.c_void_p(self.base.ggml_new_graph(context))
            self.base.ggml_build_forward_expand(graph, taken)
            graphs.append(graph)
        params = self.base.ggml_threadpool_params_default(threads)
        pool = c.c_void_p(self.cpu.ggml_threadpool_new(c.byref(params)))
        plan = self.cpu.ggml_graph_plan(graphs[0], threads, pool)
        work = c.create_string_buffer(plan.work_size + 64)
        plan.work_data = c.addressof(work)

        def run(batch):
            if self.cpu.ggml_graph_compute(graphs[batch], c.byref(plan)):
                sys.exit("lookup_ggml: ggml failed")

        def end():
            self.cpu.ggml_threadpool_free(pool)
            self.base.ggml_free(context)
            work.value = b""

        return run, end


def make_table(numpy, ggml, kind, seed):
    """A GGUF file in memory: rows of noise, quantised by ggml. Returns it and the place of its numbers."""
    noise = numpy.random.default_rng(seed).standard_normal((KINDS, DIM), dtype=numpy.float32)
    rows = numpy.zeros(KINDS * DIM * 4, dtype=numpy.uint8)
    used = ggml.base.ggml_quantize_chunk(kind, noise.ctypes.data, rows.ctypes.data, 0, KINDS, DIM, None)
    text = b"token_embd.weight"
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 0) + struct.pack("<Q", len(text)) + text
    head += struct.pack("<IQQIQ", 2, DIM, ROWS, kind, 0)
    head += b"\0" * (-len(head) % 32)
    file = numpy.empty(len(head) + used * (ROWS // KINDS), dtype=numpy.uint8)
    file[: len(head)] = numpy.frombuffer(head, dtype=numpy.uint8)
    file[len(head):].reshape(-1, used)[:] = rows[:used]
    return file, file.ctypes.data + len(head)


def rows_of(library, file):
    handle, rows = c.c_void_p(), wte.Rows()
    library.lib.wte_file_open_memory.argtypes = [c.c_void_p, c.c_uint64, c.c_char_p] + [c.c_void_p] * 3
    library.lib.wte_file_row_source.argtypes = [c.c_void_p, c.c_size_t, c.c_void_p, c.c_void_p]
    library.call("file_open_memory", file.ctypes.data, file.size, b"table", None, c.byref(handle))
    library.call("file_row_source", handle, 0, c.byref(rows))
    return handle, rows


def compare(numpy, library, ggml, name, threads):
    file, table = make_table(numpy, ggml, TYPES[name], 1)
    handle, rows = rows_of(library, file)
    out = numpy.zeros((IDS, DIM), dtype=numpy.float32)
    batches = numpy.random.default_rng(2).integers(0, ROWS, (BATCHES, IDS)).astype(numpy.int32)
    given = [wte.Ids(data=batch.ctypes.data, type=wte.I32, count=IDS) for batch in batches]
    pool = library.pool(threads)
    theirs, end = ggml.prepare(TYPES[name], table, [b.ctypes.data for b in batches], out.ctypes.data, threads)
    calls = {"wte": lambda i: library.lookup(rows, given[i], out.ctypes.data, pool), "ggml": theirs}
    results = []
    for call in calls.values():
        out.fill(0)
        call(0)
        results.append(out.copy())
    if not numpy.array_equal(results[0].view(numpy.uint32), results[1].view(numpy.uint32)):
        sys.exit(f"lookup_ggml: {name}: other bits")
    times, turn = {"wte": [], "ggml": []}, 0
    for round_number in range(ROUNDS + 2):  # two to warm up
        for who, call in calls.items():
            start = time.perf_counter()
            call(turn % BATCHES)
            turn += 1
            if round_number >= 2:
                times[who].append(time.perf_counter() - start)
    end()
    library.lib.wte_pool_free(pool)
    library.lib.wte_file_free.argtypes = [c.c_void_p]
    library.lib.wte_file_free(handle)
    return times


def report(name, threads, times, peer):
    ratios = [b / a for a, b in zip(times["wte"], times["ggml"])]
    own = statistics.median(times["wte"])
    line = {"bench": "lookup_ggml", "case": f"{name} {ROWS} x {DIM}, {IDS} ids, uniform, {threads} threads"}
    line["ns"], line["gb_s"] = round(own * 1e9), round(4 * IDS * DIM / own * 1e-9, 2)
    line["peer"], line["peer_ns"] = f"get_rows, {peer}", round(statistics.median(times["ggml"]) * 1e9)
    line["ratio"] = round(statistics.median(ratios), 3)
    line["ratio_range"] = [round(min(ratios), 3), round(max(ratios), 3)]
    line["pairs"], line["isa"] = len(ratios), os.environ.get("WTE_ISA", "best")
    line["commit"] = os.environ.get("WTE_COMMIT", "unknown")
    print(json.dumps(line), flush=True)


def main():
    if sys.argv[1:] == ["--fetch"]:
        return fetch()
    try:
        import numpy
    except ImportError as missing:
        print(f"skipped: {missing}", file=sys.stderr)
        return wte.SKIPPED
    if not (PLACE / "libggml-base.so").exists():
        print("skipped: ggml's libraries are not here: bench/peers/lookup_ggml.py --fetch", file=sys.stderr)
        return wte.SKIPPED
    library, ggml = wte.Library(sys.argv[1]), Ggml()
    for name in sys.argv[2:] or TYPES:
        for threads in (1, 2):
            report(name, threads, compare(numpy, library, ggml, name, threads), ggml.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
