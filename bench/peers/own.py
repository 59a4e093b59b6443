"""wte's side of the comparisons, by way of ctypes: rows, bags and the head over tables that lie in NumPy arrays."""
import ctypes as c
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests"))
import oracle_wte as wte  # noqa: E402  (the path comes first)

BLOCKS = {"q4_0": 2, "q8_0": 8, "q4_k": 12, "q6_k": 14}
BLOCK_SHAPE = {"q4_0": (32, 18), "q8_0": (32, 34), "q4_k": (256, 144), "q6_k": (256, 210)}
ROWWISE = {"int8": (1001, 8, 8), "int4": (1003, 4, 4)}  # FBGEMM's fused rows: number, bits, bytes of scale and bias
SUM, MEAN, MAX = 0, 1, 2
EXACT, FAST = 0, 1


class Hidden(c.Structure):
    _fields_ = [("data", c.c_void_p), ("dtype", c.c_int), ("reserved", c.c_uint32), ("n", c.c_uint64)]
    _fields_ += [("dim", c.c_uint64), ("row_bytes", c.c_size_t)]


class HeadOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("precision", c.c_int), ("bias_dtype", c.c_int), ("bias", c.c_void_p)]
    _fields_ += [("chain", c.c_float * 5), ("chain_reserved", c.c_uint32), ("n_valid", c.c_uint64)]
    _fields_ += [("valid", c.c_void_p), ("work_bytes", c.c_uint64)]
    _fields_ += [(name, c.c_void_p) for name in ("pool", "progress", "allocator")]


class LossOptions(c.Structure):
    _fields_ = [("struct_size", c.c_size_t), ("ignore_id", c.c_int64), ("sum", c.c_uint32)]
    _fields_ += [(name, c.c_float) for name in ("label_smoothing", "z_loss", "skip_below", "upstream")]
    _fields_ += [(name, c.c_void_p) for name in ("each", "d_hidden", "d_table", "d_bias")]


class Loss(c.Structure):
    _fields_ = [("loss", c.c_double), ("lse_mean", c.c_double)]
    _fields_ += [(name, c.c_uint64) for name in ("taken", "ignored", "right")]


class Ranked(c.Structure):
    _fields_ = [("id", c.c_uint64), ("logit", c.c_float), ("logprob", c.c_float)]


def options(kind, **given):
    return kind(struct_size=c.sizeof(kind), **given)


class Wte(wte.Library):
    """Calls with an error struct, as in oracle_wte; AttributeError where this build lacks a function."""

    def rows(self, kind, table, cols):
        """A row source over a table in memory."""
        source, kept = wte.Rows(), c.create_string_buffer(128)
        source.kept = kept, table  # as long as the source
        if kind in BLOCKS or kind in ROWWISE:
            name, number = ("row_source_from_blocks", BLOCKS[kind]) if kind in BLOCKS else ("row_source_from_rowwise", ROWWISE[kind][0])
            where = (c.c_uint64(len(table)), c.c_uint64(cols), c.c_void_p(table.ctypes.data), c.c_uint64(table.strides[0]))
            self.call(name, number, *where, kept, c.byref(source))
        else:
            source.dtype = {"f32": wte.F32, "f16": wte.F16, "bf16": wte.BF16}[kind]
            source.rows, source.cols, source.data, source.row_bytes = len(table), cols, table.ctypes.data, table.strides[0]
        return source

    def rowwise(self, kind, values):
        """Rows of f32 quantised as FBGEMM does."""
        number, bits, tail = ROWWISE[kind]
        rows, cols = values.shape
        out = numpy.zeros((rows, cols * bits // 8 + tail), dtype=numpy.uint8)
        shape = (c.c_uint64(rows), c.c_uint64(cols))
        self.call("rowwise_encode", number, c.c_void_p(values.ctypes.data), *shape, c.c_void_p(out.ctypes.data), c.c_uint64(0))
        return out

    def lookups(self, source, batches, out, pool):
        """A call that looks up the batch of this number."""
        given = [ids_of(batch) for batch in batches]
        asked = options(wte.LookupOptions, out_dtype=wte.F32, pool=pool)
        where = (c.c_void_p(out.ctypes.data), c.c_size_t(0))
        return lambda i: self.call("lookup", c.byref(source), given[i], c.byref(asked), *where)

    def bag_calls(self, source, batches, offsets, out, pool, mode=SUM, weights=None):
        """A call that reduces the batch of this number."""
        given, starts = [ids_of(batch) for batch in batches], ids_of(offsets)
        asked = options(wte.BagOptions, mode=mode, offsets_end=1, pool=pool)
        asked.weights = None if weights is None else weights.ctypes.data
        where = (c.c_void_p(out.ctypes.data), c.c_size_t(0))
        return lambda i: self.call("bag_reduce", c.byref(source), given[i], starts, c.byref(asked), *where)

    def logits(self, source, hidden, out, pool, precision):
        vectors, asked = hidden_of(hidden), options(HeadOptions, precision=precision, pool=pool)
        where = (c.c_void_p(out.ctypes.data), c.c_size_t(0))
        return lambda i: self.call("head_logits", c.byref(source), c.byref(vectors), c.byref(asked), *where)

    def top(self, source, hidden, count, pool, precision):
        vectors, asked = hidden_of(hidden), options(HeadOptions, precision=precision, pool=pool)
        ranked = (Ranked * (count * len(hidden)))()
        self.lib.wte_head_topk  # noqa: B018  (raises where this build has none)
        return ranked, lambda i: self.call("head_topk", c.byref(source), c.byref(vectors), c.byref(asked), count, ranked, None)

    def gradients(self, shape, batches, d_out, pool, sparse=False):
        """A kept dense gradient that the batch of this number is added to, or one of rows that begins anew; and where it is."""
        grad, given = self.grad(*shape, kind=int(sparse), pool=pool), [ids_of(batch) for batch in batches]
        where, zero = (c.c_void_p(d_out.ctypes.data), c.c_size_t(0), None), self.lib.wte_grad_zero

        def run(i):
            if sparse:
                zero(grad)
            self.call("grad_lookup", grad, given[i], *where)

        run.end = lambda: self.lib.wte_grad_free(grad)
        return grad, run

    def steps(self, values, batches, d_out, pool, bag=0, prepares=False, **settings):
        """A table that begins with these values, as an array that shares its memory, and a call that steps by the batch."""
        table, cols = c.c_void_p(), values.shape[1]
        self.call("table_create", len(values), cols, wte.F32, None, c.byref(table))
        at = c.cast(self.lib.wte_table_data(table), c.POINTER(c.c_float))
        array = numpy.ctypeslib.as_array(at, values.shape)
        array[:] = values
        made, given = self.optim(table, pool=pool, **settings), [ids_of(batch) for batch in batches]
        asked, none = options(wte.BagOptions, bag_ids=bag), wte.Ids(type=wte.I64)

        def run(i):
            if prepares:
                self.call("optim_sync_rows", made, given[i])
            if bag:
                self.call("optim_step_bag", made, given[i], none, c.byref(asked), d_out.ctypes.data, 0, None)
            else:
                self.call("optim_step_lookup", made, given[i], d_out.ctypes.data, 0, None)

        def over():
            self.lib.wte_optim_free(made)
            self.lib.wte_table_free(table)

        run.end = over
        return array, run

    def losses(self, source, hidden, targets, pool, gradients=()):
        """gradients: none, or arrays for hidden and for the table. Returns the result's struct and the call."""
        vectors, asked = hidden_of(hidden), options(HeadOptions, pool=pool)
        how = options(LossOptions, ignore_id=-100, upstream=1)
        if gradients:
            how.d_hidden, how.d_table = (array.ctypes.data for array in gradients)
        found, wanted = Loss(), ids_of(targets)
        self.lib.wte_head_loss  # noqa: B018
        where = (c.byref(asked), c.byref(how), c.byref(found))
        return found, lambda i: self.call("head_loss", c.byref(source), c.byref(vectors), wanted, *where)

    def loss_work(self, source, hidden, gradients):
        """Work bytes of head_loss: least, and beyond which more does not help."""
        vectors, asked, how = hidden_of(hidden), options(HeadOptions), options(LossOptions, ignore_id=-100, upstream=1)
        if gradients:
            how.d_hidden, how.d_table = (array.ctypes.data for array in gradients)
        least, best = c.c_uint64(), c.c_uint64()
        self.call("loss_workspace_size", c.byref(source), c.byref(vectors), c.byref(asked), c.byref(how), c.byref(least), c.byref(best))
        return least.value, best.value


def ids_of(array):
    return wte.Ids(data=array.ctypes.data, type=wte.I64, count=array.size)


def hidden_of(array):
    return Hidden(data=array.ctypes.data, dtype=wte.F32, n=array.shape[0], dim=array.shape[1])


class Native:
    """libbench_peers: peers' kernels on a pool's threads, and this machine's limit of reading."""

    def __init__(self, path):
        self.lib = c.CDLL(str(path))
        self.lib.peers_read.restype = c.c_uint64
        self.lib.peers_read.argtypes = [c.c_void_p, c.c_void_p, c.c_uint64, c.c_uint32]
        self.lib.peers_bags.argtypes = [c.c_void_p, c.c_void_p]
        self.lib.peers_bags.restype = None
        self.lib.peers_steps.argtypes = [c.c_void_p, c.c_void_p]
        self.lib.peers_steps.restype = None

    def pool(self, threads):
        made, error = c.c_void_p(), wte.Error()
        if self.lib.wte_pool_create(c.c_uint32(threads), c.byref(made), c.byref(error)):
            raise SystemExit("no threads")
        return made

    def reads(self, block, pool):
        """Calls that read a block in 1 to 8 streams: the best of them is the limit."""
        at, size = block.ctypes.data, block.nbytes
        return {f"limit: read in {n} streams": lambda i, n=n: self.lib.peers_read(pool, at, size, n) for n in (1, 2, 4, 8)}
