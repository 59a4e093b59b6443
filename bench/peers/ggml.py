"""ggml: get_rows and mul_mat of one table, plain and repacked, on ggml's own thread pool.

The libraries and their structs are those of lookup_ggml.py. Of ggml's libraries that one computes which it rates highest
for this processor; the decoding of blocks in libggml-base is built for any x86-64, as its packages ship it. Native is
ggml out of a source package, built for this processor from end to end.
"""
import ctypes as c

import lookup_ggml
import numpy
from lookup_ggml import I32, InitParams

KINDS = {"f32": 0, "f16": 1, "bf16": 30} | {name: number for name, number in lookup_ggml.TYPES.items()}
REPACKED = b"CPU_REPACK"
EXTRA_AT = lookup_ggml.DATA_AT + 8 + 64  # of the field `extra` in ggml_tensor: after `data` and the name
# In ggml_threadpool_params, after one byte for each of 512 processors: the number of threads, their priority, and how
# long they spin, 0 to 100.
THREADS_AT, POLL_AT = 512, 520


class Peer(lookup_ggml.Ggml):
    def __init__(self, place=lookup_ggml.PLACE):
        super().__init__(place)
        for name in ("mul_mat", "backend_reg_dev_get", "backend_reg_get_proc_address", "backend_buft_alloc_buffer",
                     "backend_buffer_get_base"):
            getattr(self.base, "ggml_" + name).restype = c.c_void_p
        self.silence = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)(lambda level, text, ctx: None)
        self.base.ggml_log_set(self.silence, None)
        self.base.ggml_backend_buft_name.restype = c.c_char_p
        self.base.ggml_backend_buft_get_alloc_size.restype = c.c_size_t
        self.cpu.ggml_backend_cpu_reg.restype = c.c_void_p

    def quantized(self, kind, values):
        """Rows of f32 in a type of blocks, by ggml's own quantiser."""
        rows, cols = values.shape
        out = numpy.zeros(values.nbytes, dtype=numpy.uint8)
        where = (values.ctypes.data, out.ctypes.data)
        used = self.base.ggml_quantize_chunk(KINDS[kind], *where, 0, rows, cols, None)
        return out[:used].reshape(rows, -1).copy()

    def context(self):
        return c.c_void_p(self.base.ggml_init(InitParams(64 << 20, None, True)))

    def matrix(self, context, kind, rows, cols):
        return self.base.ggml_new_tensor_2d(context, KINDS[kind], c.c_int64(cols), c.c_int64(rows))

    def pool_params(self, threads):
        """ggml's defaults, but threads that wait sleep: spinning, they would take a processor from whoever is timed next."""
        params = self.base.ggml_threadpool_params_default(threads)
        count, poll = (c.c_uint32.from_address(c.addressof(params) + at) for at in (THREADS_AT, POLL_AT))
        if count.value != threads or not 0 <= poll.value <= 100:
            raise ValueError("this ggml lays the parameters of its thread pool out differently")
        poll.value = 0
        return params

    def running(self, context, results, threads):
        """A call that computes result number i (of as many as there are, in a circle)."""
        graphs = []
        for result in results:
            graph = c.c_void_p(self.base.ggml_new_graph(context))
            self.base.ggml_build_forward_expand(graph, result)
            graphs.append(graph)
        params = self.pool_params(threads)
        pool = c.c_void_p(self.cpu.ggml_threadpool_new(c.byref(params)))
        plan = self.cpu.ggml_graph_plan(graphs[0], threads, pool)
        work = c.create_string_buffer(plan.work_size + 64)
        # get_rows asks for one thread, yet shares its rows among as many as come.
        plan.work_data, plan.n_threads = c.addressof(work), threads

        def run(i):
            if self.cpu.ggml_graph_compute(graphs[i % len(graphs)], c.byref(plan)):
                raise SystemExit("ggml failed")

        def end():
            self.cpu.ggml_threadpool_free(pool)
            self.base.ggml_free(context)
            work.value = b""

        run.end = end
        return run

    def lookups(self, kind, table, cols, batches, out, threads):
        context = self.context()
        weights = self.tensor(self.matrix(context, kind, len(table), cols), table.ctypes.data)
        narrow = [batch.astype(numpy.int32) for batch in batches]
        results = []
        for batch in narrow:
            asked = self.tensor(self.base.ggml_new_tensor_1d(context, I32, c.c_int64(batch.size)), batch.ctypes.data)
            results.append(self.tensor(self.base.ggml_get_rows(context, weights, asked), out.ctypes.data))
        run = self.running(context, results, threads)
        run.kept = (narrow, table)
        return run

    def product(self, weights, context, hidden, out, threads):
        given = self.tensor(self.matrix(context, "f32", *hidden.shape), hidden.ctypes.data)
        run = self.running(context, [self.tensor(self.base.ggml_mul_mat(context, weights, given), out.ctypes.data)], threads)
        run.kept = (hidden, out)
        return run

    def logits(self, kind, table, hidden, out, threads):
        context = self.context()
        weights = self.tensor(self.matrix(context, kind, len(table), hidden.shape[1]), table.ctypes.data)
        return self.product(weights, context, hidden, out, threads)

    def repacking(self):
        """The buffer type whose tensors are interleaved when they are written, or None."""
        registry = c.c_void_p(self.cpu.ggml_backend_cpu_reg())
        found = self.base.ggml_backend_reg_get_proc_address(registry, b"ggml_backend_dev_get_extra_bufts")
        device = c.c_void_p(self.base.ggml_backend_reg_dev_get(registry, c.c_size_t(0)))
        listed = c.CFUNCTYPE(c.POINTER(c.c_void_p), c.c_void_p)(found)(device) if found else [None]
        at = 0
        while listed[at] and self.base.ggml_backend_buft_name(c.c_void_p(listed[at])) != REPACKED:
            at += 1
        return listed[at] and c.c_void_p(listed[at])

    def repacked_logits(self, kind, table, hidden, out, threads):
        """None where this ggml repacks no such table (its rows come by eights)."""
        kind_of_buffer = self.repacking()
        if not kind_of_buffer:
            return None
        context = self.context()
        weights = c.c_void_p(self.matrix(context, kind, len(table), hidden.shape[1]))
        size = self.base.ggml_backend_buft_get_alloc_size(kind_of_buffer, weights)
        buffer = c.c_void_p(self.base.ggml_backend_buft_alloc_buffer(kind_of_buffer, c.c_size_t(size)))
        place = c.c_void_p(self.base.ggml_backend_buffer_get_base(buffer))
        self.base.ggml_backend_tensor_alloc(buffer, weights, place)
        if not c.c_void_p.from_address(weights.value + EXTRA_AT).value:
            return None  # it would write through this pointer
        self.base.ggml_backend_tensor_set(weights, c.c_void_p(table.ctypes.data), c.c_size_t(0), c.c_size_t(table.nbytes))
        run = self.product(weights, context, hidden, out, threads)
        end = run.end

        def end_all():
            end()
            self.base.ggml_backend_buffer_free(buffer)

        run.end = end_all
        return run


class Native(Peer):
    """ggml built by fetch.py for this very processor, its decoding of blocks too."""

    def __init__(self):
        place = lookup_ggml.PLACE.with_name("ggml-native")
        if not place.exists():
            raise OSError("no libraries in .cache/peers/ggml-native: bench/peers/fetch.py ggml-native")
        super().__init__(place)
