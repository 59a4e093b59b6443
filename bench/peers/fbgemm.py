"""FBGEMM's generated kernels for rows and bags, out of the wheel of fbgemm-gpu-cpu and without PyTorch.

The wheel's fbgemm.so exports its C++ generators; what they return is a std::function, which native.c calls on the threads
of a pool. FBGEMM itself has no threads: PyTorch splits its bags in the same way.
"""
import ctypes as c
import pathlib

import numpy

PLACE = pathlib.Path(__file__).resolve().parents[2] / ".cache/peers/fbgemm/fbgemm_gpu"
NAME = "FBGEMM 1.9.0"
PLAIN = "_ZN6fbgemm22GenerateEmbeddingSpMDMI{}llfLb0EEENS_29EmbeddingSpMDMKernelSignatureIT_T0_T1_T2_E4TypeElbbibbbb"
BITS = "_ZN6fbgemm26GenerateEmbeddingSpMDMNBitIllfEENS_29EmbeddingSpMDMKernelSignatureIhT_T0_T1_E4TypeEilbbibb"
STEP = "_ZN6fbgemm21GenerateSparseAdaGradIlEENS_22SparseAdaGradSignatureIT_E4TypeEibib"
BAG_STEP = "_ZN6fbgemm33GenerateRowWiseSparseAdaGradFusedIllfEENS_34RowWiseSparseAdaGradFusedSignatureIT_T0_T1_E4TypeEiibbi"
AHEAD = 16  # ids that its own users have it prefetch
TYPES = {"f32": "f", "f16": "NS_7float16E", "bf16": "t", "int8": "h"}


class Function(c.Structure):
    _fields_ = [("stored", c.c_void_p * 2), ("manager", c.c_void_p), ("invoke", c.c_void_p)]


class Call(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("function", "table", "ids", "offsets", "weights", "out")]
    _fields_ += [(name, c.c_int64) for name in ("rows", "bags", "cols", "parts")] + [("done", c.c_void_p)]


class StepCall(c.Structure):
    _fields_ = [(name, c.c_void_p) for name in ("function", "table", "state", "d_out", "ids", "offsets")]
    _fields_ += [(name, c.c_int64) for name in ("rows", "cols", "n", "parts")]
    _fields_ += [("eps", c.c_float), ("lr", c.c_float), ("done", c.c_void_p)]


class Fbgemm:
    def __init__(self, native):
        self.native = native
        for name in ("libc10.so", "libtorch_cpu.so", "libtorch.so", "asmjit.so"):
            c.CDLL(str(PLACE / name))
        self.lib = c.CDLL(str(PLACE / "fbgemm.so"))

    def kernel(self, kind, cols, ahead, weighted=False, mean=False):
        """A generated kernel that prefetches so many ids ahead."""
        made = Function()
        flags = (c.c_bool(weighted), c.c_bool(mean), c.c_int(ahead), c.c_bool(False), c.c_bool(True))
        if kind == "int4":
            generate, first = getattr(self.lib, BITS), (c.c_int(4), c.c_int64(cols))
        else:
            generate, first = getattr(self.lib, PLAIN.format(TYPES[kind])), (c.c_int64(cols),)
            flags += (c.c_bool(False), c.c_bool(kind == "bf16"))
        generate.restype = None
        generate(c.byref(made), *first, *flags)
        return made

    def bags(self, kernel, table, batches, offsets, out, pool, threads, weights=None):
        """A call that reduces the batch of this number; bags of one id are a lookup."""
        parts = 1 if threads == 1 else 8 * threads
        done = numpy.zeros(parts, dtype=numpy.bool_)
        bags, cols = out.shape
        calls = []
        for batch in batches:
            call = Call(rows=len(table), bags=bags, cols=cols, parts=parts, done=done.ctypes.data)
            call.function, call.table, call.ids = c.addressof(kernel), table.ctypes.data, batch.ctypes.data
            call.offsets, call.out = offsets.ctypes.data, out.ctypes.data
            call.weights = None if weights is None else weights.ctypes.data
            calls.append(call)

        def run(i):
            self.native.lib.peers_bags(pool, c.byref(calls[i]))
            if not done.all():
                raise SystemExit("FBGEMM found something wrong with its ids")

        run.kept = (kernel, table, batches, offsets, weights)
        return run

    def steps(self, table, state, d_out, batches, pool, threads, rowwise, lr, eps, offsets=None):
        """A call of Adagrad that takes the ids of the batch one after the other; with offsets row-wise, for bags."""
        function, cols = Function(), table.shape[1]
        generate = getattr(self.lib, STEP if offsets is None else BAG_STEP)
        generate.restype = None
        if offsets is None:
            generate(c.byref(function), c.c_int(cols), c.c_bool(rowwise), c.c_int(AHEAD), c.c_bool(False))
        else:
            generate(c.byref(function), c.c_int(cols), c.c_int(AHEAD), c.c_bool(True), c.c_bool(False), c.c_int(cols))
        parts = 1 if threads == 1 else 8 * threads
        done = numpy.zeros(parts, dtype=numpy.bool_)
        calls = []
        for batch in batches:
            call = StepCall(rows=len(table), cols=cols, n=len(d_out), parts=parts, eps=eps, lr=-lr, done=done.ctypes.data)
            call.function, call.table, call.state = c.addressof(function), table.ctypes.data, state.ctypes.data
            call.d_out, call.ids = d_out.ctypes.data, batch.ctypes.data
            call.offsets = None if offsets is None else offsets.ctypes.data
            calls.append(call)

        def run(i):
            self.native.lib.peers_steps(pool, c.byref(calls[i]))
            if not done.all():
                raise SystemExit("FBGEMM found something wrong with its ids")

        run.kept = (function, table, state, d_out, batches, offsets)
        return run
