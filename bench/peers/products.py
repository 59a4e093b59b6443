"""Products hidden x table^T by oneDNN, onnxruntime, OpenBLAS and NumKong: classes whose methods give a call to be timed."""
import ctypes as c
import pathlib
import sys

import numpy

CACHE = pathlib.Path(__file__).resolve().parents[2] / ".cache/peers"


class OneDnn:
    """oneDNN's C interface, version 3: matmul with the table as it lies, or packed as the primitive likes it best."""

    NAME = "oneDNN 3.2"
    F32, BF16 = 3, 2
    ANY, WEIGHTS_MD = 1, 131
    SRC, DST, WEIGHTS = 1, 17, 33
    ALLOCATE = c.c_void_p(2**64 - 1)

    class Argument(c.Structure):
        _fields_ = [("arg", c.c_int), ("memory", c.c_void_p)]

    def __init__(self):
        self.lib = c.CDLL(str(CACHE / "onednn/libdnnl.so.3"))
        self.omp = c.CDLL("libgomp.so.1")
        self.lib.dnnl_primitive_desc_query_md.restype = c.c_void_p
        self.engine = self.made("engine_create", 1, c.c_size_t(0))
        self.stream = self.made("stream_create", self.engine, 1)

    def do(self, name, *arguments):
        status = getattr(self.lib, "dnnl_" + name)(*arguments)
        if status:
            raise OSError(f"dnnl_{name} answers {status}")

    def made(self, name, *arguments):
        handle = c.c_void_p()
        self.do(name, c.byref(handle), *arguments)
        return handle

    def matrix(self, rows, cols, dtype, strides):
        dims = (c.c_int64 * 2)(rows, cols)
        if strides is None:
            return self.made("memory_desc_create_with_tag", 2, dims, dtype, self.ANY)
        return self.made("memory_desc_create_with_strides", 2, dims, dtype, (c.c_int64 * 2)(*strides))

    def at(self, description, address):
        return self.made("memory_create", description, self.engine, c.c_void_p(address))

    def execute(self, primitive, memories):
        arguments = (self.Argument * len(memories))()
        for place, (number, memory) in zip(arguments, memories.items()):
            place.arg, place.memory = number, memory.value

        def run(_):
            self.do("primitive_execute", primitive, self.stream, len(memories), arguments)
            self.do("stream_wait", self.stream)

        return run

    def logits(self, table, hidden, out, threads, packed):
        """Table and hidden both f32, or both bf16 as uint16; the logits are f32."""
        (rows, dim), n = table.shape, len(hidden)
        dtype = self.F32 if table.dtype == numpy.float32 else self.BF16
        self.omp.omp_set_num_threads(threads)
        given, result = self.matrix(n, dim, dtype, (dim, 1)), self.matrix(n, rows, self.F32, (rows, 1))
        plain = self.matrix(dim, rows, dtype, (1, dim))
        wanted = self.matrix(dim, rows, dtype, None) if packed else plain
        product = self.made("matmul_primitive_desc_create", self.engine, given, wanted, None, result, None)
        weights = self.at(plain, table.ctypes.data)
        if packed:
            liked = c.c_void_p(self.lib.dnnl_primitive_desc_query_md(product, self.WEIGHTS_MD, 0))
            target = self.made("memory_create", liked, self.engine, self.ALLOCATE)
            reorder = self.made("reorder_primitive_desc_create", plain, self.engine, liked, self.engine, None)
            self.execute(self.made("primitive_create", reorder), {self.SRC: weights, self.DST: target})(0)
            weights = target
        places = {self.SRC: self.at(given, hidden.ctypes.data), self.WEIGHTS: weights}
        places[self.DST] = self.at(result, out.ctypes.data)
        step = self.execute(self.made("primitive_create", product), places)

        def run(i):
            self.omp.omp_set_num_threads(threads)
            step(i)

        run.kept = (table, hidden, out)
        run.end = (lambda: self.do("memory_destroy", weights)) if packed else (lambda: None)
        return run


class OpenBlas:
    NAME = "OpenBLAS 0.3.34"

    def __init__(self):
        self.lib = c.CDLL(str(CACHE / "openblas/scipy_openblas32/lib/libscipy_openblas.so"))

    def logits(self, table, hidden, out, threads):
        """sgemm, and for one vector sgemv."""
        (rows, dim), n = table.shape, len(hidden)
        one, zero = c.c_float(1), c.c_float(0)
        weights, given, result = (c.c_void_p(a.ctypes.data) for a in (table, hidden, out))

        def run(_):
            self.lib.scipy_openblas_set_num_threads(threads)
            if n == 1:
                self.lib.scipy_cblas_sgemv(101, 111, rows, dim, one, weights, dim, given, 1, zero, result, 1)
            else:
                self.lib.scipy_cblas_sgemm(101, 111, 112, n, rows, dim, one, given, dim, weights, dim, zero, result, rows)

        run.kept, run.end = (table, hidden, out), lambda: None
        return run


class NumKong:
    """NumKong's C functions inside its Python module: bf16, the table packed once, one thread."""

    NAME = "NumKong 7.8"

    def __init__(self):
        (path,) = (CACHE / "numkong/numkong").glob("_numkong*.so")
        self.lib = c.CDLL(str(path))
        self.lib.nk_dots_packed_size_bf16.restype = c.c_uint64

    def logits(self, table, hidden, out):
        (rows, dim), n = table.shape, len(hidden)
        size = c.c_uint64(rows), c.c_uint64(dim)
        packed = numpy.zeros(self.lib.nk_dots_packed_size_bf16(*size), dtype=numpy.uint8)
        weights, given, kept, result = (c.c_void_p(a.ctypes.data) for a in (table, hidden, packed, out))
        self.lib.nk_dots_pack_bf16(weights, *size, c.c_uint64(2 * dim), kept)
        strides = c.c_uint64(2 * dim), c.c_uint64(4 * rows)

        def run(_):
            self.lib.nk_dots_packed_bf16(given, kept, result, c.c_uint64(n), *size, *strides)

        run.kept = (table, hidden, packed, out)
        return run


def field(number, value):
    """One field of a protobuf message: an int, or bytes (text, a message)."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


class OnnxRuntime:
    """onnxruntime: MatMul for f32, MatMulNBits (blocks of 32, int8 arithmetic) for 4 and 8 bits."""

    NAME = "onnxruntime 1.32"
    FLOAT, UINT8 = 1, 2

    def __init__(self):
        sys.path.insert(0, str(CACHE / "onnxruntime"))
        import onnxruntime

        self.ort = onnxruntime

    def initializer(self, name, array):
        kind = self.FLOAT if array.dtype == numpy.float32 else self.UINT8
        dims = b"".join(field(1, size) for size in array.shape)
        return field(5, dims + field(2, kind) + field(8, name) + field(9, array.tobytes()))

    def value(self, name, shape):
        dims = b"".join(field(1, field(1, size)) for size in shape)
        return field(1, name) + field(2, field(1, field(1, self.FLOAT) + field(2, dims)))

    def session(self, node, arrays, shapes, threads):
        graph = field(1, node) + field(2, b"g")
        graph += b"".join(self.initializer(name, array) for name, array in arrays.items())
        graph += field(11, self.value(b"hidden", shapes[0])) + field(12, self.value(b"logits", shapes[1]))
        domains = field(8, field(1, b"") + field(2, 17)) + field(8, field(1, b"com.microsoft") + field(2, 1))
        given = self.ort.SessionOptions()
        given.intra_op_num_threads, given.log_severity_level = threads, 3
        given.add_session_config_entry("session.intra_op.allow_spinning", "0")
        model = field(1, 8) + domains + field(7, graph)
        return self.ort.InferenceSession(model, given, providers=["CPUExecutionProvider"])

    def running(self, session, hidden, out):
        binding = session.io_binding()
        shape = list(hidden.shape), list(out.shape)
        binding.bind_input("hidden", "cpu", 0, numpy.float32, shape[0], hidden.ctypes.data)
        binding.bind_output("logits", "cpu", 0, numpy.float32, shape[1], out.ctypes.data)

        def run(_):
            session.run_with_iobinding(binding)

        run.kept, run.end = (hidden, out), lambda: None
        return run

    def logits(self, kind, table, hidden, out, threads):
        """kind f32; q4_0 or q8_0: the numbers of a table of such blocks, laid out as MatMulNBits wants them."""
        rows, dim = out.shape[1], hidden.shape[1]
        if kind == "f32":
            arrays = {b"w": numpy.ascontiguousarray(table.T)}
            node = b"".join(field(1, name) for name in (b"hidden", b"w")) + field(2, b"logits") + field(4, b"MatMul")
        else:
            arrays, bits = unpacked(kind, table, rows, dim)
            numbers = {"K": dim, "N": rows, "bits": bits, "block_size": 32, "accuracy_level": 4}
            node = b"".join(field(1, name) for name in (b"hidden", *arrays)) + field(2, b"logits")
            node += field(4, b"MatMulNBits") + field(7, b"com.microsoft")
            for name, value in numbers.items():
                node += field(5, field(1, name.encode()) + field(3, value) + field(20, 2))
        return self.running(self.session(node, arrays, (hidden.shape, out.shape), threads), hidden, out)


def unpacked(kind, table, rows, dim):
    """Integers and scales of q4_0 or q8_0 blocks apart."""
    size = {"q4_0": 18, "q8_0": 34}[kind]
    blocks = table.reshape(rows, dim // 32, size)
    scales = numpy.ascontiguousarray(blocks[..., :2]).view(numpy.float16)[..., 0].astype(numpy.float32)
    data = blocks[..., 2:]
    if kind == "q4_0":  # the first half of a block lies in the low nibbles; here neighbours share a byte
        whole = numpy.concatenate([data & 15, data >> 4], axis=-1)
        data = whole[..., ::2] | whole[..., 1::2] << 4
        return {b"w": numpy.ascontiguousarray(data), b"s": scales}, 4
    return {b"w": data ^ 128, b"s": scales}, 8  # 128 stands for 0
