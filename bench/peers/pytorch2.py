"""PyTorch 2 as its makers build it, with MKL and FBGEMM in it, out of a Maven package and without Python: products of f32 and of
f16, cross-entropy and its gradients.

Its C++ functions are called by their names as compiled. A tensor is handed over by address, as a reference is; one that comes back
by value is built at an address that the caller gives. Debian's PyTorch must not be loaded beside it: the two
share what is unique in a process.
"""
import ctypes as c
import os
import pathlib

import numpy

PLACE = pathlib.Path(__file__).resolve().parents[2] / ".cache/peers/pytorch"
OPERATIONS = {
    "mm_out": "_ZN2at4_ops6mm_out4callERKNS_6TensorES4_RS2_",
    "pack_f16": "_ZN2at4_ops28fbgemm_pack_gemm_matrix_fp164callERKNS_6TensorE",
    "linear_f16": "_ZN2at4_ops41fbgemm_linear_fp16_weight_fp32_activation4callERKNS_6TensorES4_S4_",
    "linear": "_ZN2at4_ops6linear4callERKNS_6TensorES4_RKSt8optionalIS2_E",
    "cross_entropy": "_ZN2at4_ops18cross_entropy_loss4callERKNS_6TensorES4_RKSt8optionalIS2_ElN3c106SymIntEd",
    "require_gradients": "_ZN2at4_ops14requires_grad_4callERNS_6TensorEb",
    "backward": "_ZNK2at6Tensor9_backwardEN3c108ArrayRefIS0_EERKSt8optionalIS0_ES4_IbEb",
    "set_threads": "_ZN2at15set_num_threadsEi",
}
GRADIENT = "_ZN3c1010TensorImpl12mutable_gradEv"
F32, I64, MEAN, IGNORED = 6, 4, 1, -100


class Tensor:
    """A tensor of PyTorch's over an array, or one that an operation has made."""

    def __init__(self, torch, handle, array=None):
        self.torch, self.handle, self.array = torch, handle, array

    def end(self):
        self.torch.do("aoti_torch_delete_tensor_object", self.handle)

    def address(self):
        found = c.c_void_p()
        self.torch.do("aoti_torch_get_data_ptr", self.handle, c.byref(found))
        return found.value


class Torch2:
    NAME = "PyTorch 2.7.1"

    def __init__(self):
        if os.environ.get("GOMP_SPINCOUNT") != "0":
            raise ValueError("GOMP_SPINCOUNT=0 must be in the environment before PyTorch is loaded")
        maps = pathlib.Path("/proc/self/maps").read_text(encoding="utf-8")
        if "libc10.so" in maps:
            raise ValueError("another PyTorch, or what stands in for it, is in this process")
        for name in ("libgomp-98b21ff3.so.1", "libc10.so"):
            self.c10 = c.CDLL(str(PLACE / name))
        self.lib = c.CDLL(str(PLACE / "libtorch_cpu.so"))
        self.call = {name: getattr(self.lib, symbol) for name, symbol in OPERATIONS.items()}
        for function in self.call.values():
            function.restype = None
        self.malloc = c.CDLL(None).malloc
        self.malloc.restype = c.c_void_p
        self.nothing = c.create_string_buffer(16)  # an optional tensor that is not there

    def do(self, name, *arguments):
        if getattr(self.lib, name)(*arguments):
            raise OSError(f"{name} fails")

    def over(self, array, transposed=False):
        """A tensor over an array of f32 or i64; transposed: over its columns."""
        order = slice(None, None, -1) if transposed else slice(None)
        sizes = (c.c_int64 * array.ndim)(*array.shape[order])
        strides = (c.c_int64 * array.ndim)(*[stride // array.itemsize for stride in array.strides[order]])
        kind = F32 if array.dtype == numpy.float32 else I64
        handle, data = c.c_void_p(), c.c_void_p(array.ctypes.data)
        offset, device = c.c_int64(0), (0, -1)
        self.do("aoti_torch_create_tensor_from_blob", data, c.c_int64(array.ndim), sizes, strides, offset, kind, *device, c.byref(handle))
        return Tensor(self, handle, array)

    def make(self, name, *arguments):
        """An operation that gives back a tensor."""
        place = c.c_void_p(self.malloc(8))
        self.call[name](place, *arguments)
        return Tensor(self, place)

    def gradient(self, tensor):
        """The tensor's gradient, as an address of floats; it lives as long as the tensor."""
        implementation = c.c_void_p.from_address(tensor.handle.value)
        self.c10[GRADIENT].restype = c.c_void_p
        found = Tensor(self, c.c_void_p(self.c10[GRADIENT](implementation)))
        return found.address()

    def logits(self, table, hidden, out, threads):
        weights, given, target = self.over(table, True), self.over(hidden), self.over(out)

        def run(_):
            self.call["set_threads"](threads)
            self.call["mm_out"](given.handle, weights.handle, target.handle)

        run.kept = (table, hidden, out)
        return run

    def f16_logits(self, table, hidden, out, threads):
        """FBGEMM's product of f32 by a table packed as f16. PyTorch makes its result: it is copied only when it is to be compared."""
        weights, given, bias = self.over(table), self.over(hidden), self.over(numpy.zeros(len(table), dtype=numpy.float32))
        packed = self.make("pack_f16", weights.handle)
        weights.end()

        def run(_):
            self.call["set_threads"](threads)
            made = self.make("linear_f16", given.handle, packed.handle, bias.handle)
            if run.copies:
                c.memmove(out.ctypes.data, made.address(), out.nbytes)
            made.end()

        run.copies, run.kept, run.end = False, (hidden, bias, out), packed.end
        return run

    def losses(self, table, hidden, targets, threads, gradients):
        """linear and cross_entropy; with gradients also backward. Returns where results are found, and the call."""
        wanted, found, shapes = self.over(targets), {}, {"d_hidden": hidden.shape, "d_table": table.shape}
        ignored, smoothing = c.c_int64(IGNORED), c.c_double(0)

        def run(_):
            self.call["set_threads"](threads)
            left, right = self.over(hidden), self.over(table)
            for tensor in (left, right) if gradients else ():
                self.call["require_gradients"](tensor.handle, c.c_bool(True))
            logits = self.make("linear", left.handle, right.handle, self.nothing)
            loss = self.make("cross_entropy", logits.handle, wanted.handle, self.nothing, c.c_int64(MEAN), c.byref(ignored), smoothing)
            if gradients:
                self.call["backward"](loss.handle, None, c.c_int64(0), self.nothing, c.c_uint16(0), c.c_bool(False))
                for name, tensor in (("d_hidden", left), ("d_table", right)) if run.copies else ():
                    place = (c.c_float * int(numpy.prod(shapes[name]))).from_address(self.gradient(tensor))
                    found[name] = numpy.frombuffer(place, dtype=numpy.float32).reshape(shapes[name]).copy()
            found["loss"] = c.c_float.from_address(loss.address()).value
            for tensor in (loss, logits, left, right):
                tensor.end()

        run.copies = False
        return found, run
