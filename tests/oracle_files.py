"""libwte's files of tensors by way of ctypes, for the oracle tests of formats."""
import ctypes as c

from oracle_wte import Error

# number -> (safetensors' name, NumPy's code); as in wte/dtype.h
TYPES = {
    1: ("F64", "f8"), 2: ("F32", "f4"), 3: ("F16", "f2"), 4: ("BF16", None), 5: ("F8_E4M3", None), 6: ("F8_E5M2", None),
    7: ("I8", "i1"), 8: ("U8", "u1"), 9: ("I16", "i2"), 10: ("U16", "u2"), 11: ("I32", "i4"), 12: ("U32", "u4"),
    13: ("I64", "i8"), 14: ("U64", "u8"), 15: ("BOOL", "b1"), 16: ("C64", "c8"), 17: ("F8_E8M0", None),
    18: ("F8_E4M3FNUZ", None), 19: ("F8_E5M2FNUZ", None), 20: ("F6_E2M3", None), 21: ("F6_E3M2", None), 22: ("F4", None),
}  # fmt: skip


class Tensor(c.Structure):
    _fields_ = [
        ("name", c.c_void_p),
        ("name_bytes", c.c_uint64),
        ("dtype", c.c_int),
        ("rank", c.c_uint32),
        ("shape", c.c_uint64 * 16),
        ("bytes", c.c_uint64),
        ("offset", c.c_uint64),
        ("shard", c.c_uint32),
        ("column_major", c.c_bool),
        ("big_endian", c.c_bool),
        ("block", c.c_int),
        ("derived", c.c_bool),
        ("strided", c.c_bool),
        ("decompressed", c.c_bool),
        ("storage", c.c_uint64),
        ("stride", c.c_uint64 * 16),
        ("foreign_type", c.c_uint32),
        ("foreign_name", c.c_char_p),
    ]


class TensorOut(c.Structure):
    _fields_ = [
        ("name", c.c_char_p),
        ("dtype", c.c_int),
        ("rank", c.c_uint32),
        ("shape", c.POINTER(c.c_uint64)),
        ("data", c.c_char_p),
        ("rows", c.c_void_p),
    ]


class GgufOptions(c.Structure):
    _fields_ = [
        ("struct_size", c.c_size_t),
        ("architecture", c.c_char_p),
        ("name", c.c_char_p),
        ("alignment", c.c_uint32),
        ("reserved", c.c_uint32),
        ("embedding_length", c.c_uint64),
        ("vocab_size", c.c_uint64),
        ("tokenizer", c.c_char_p),
        ("n_tokens", c.c_uint64),
        ("token", c.c_void_p),
        ("token_ctx", c.c_void_p),
        ("metadata", c.c_void_p),
        ("n_metadata", c.c_size_t),
    ]


class Files:
    def __init__(self, path):
        self.lib = c.CDLL(path)
        self.lib.wte_file_open_memory.argtypes = [c.c_char_p, c.c_uint64, c.c_char_p] + [c.c_void_p] * 3
        self.lib.wte_file_n_tensors.argtypes = [c.c_void_p]
        self.lib.wte_file_n_tensors.restype = c.c_uint64
        self.lib.wte_file_tensor.argtypes = [c.c_void_p, c.c_uint64, c.c_void_p, c.c_void_p]
        self.lib.wte_file_read.argtypes = [c.c_void_p, c.c_uint64, c.c_uint64, c.c_void_p, c.c_uint64, c.c_void_p]
        self.lib.wte_file_free.argtypes = [c.c_void_p]

    def read(self, data):
        """[(name, Tensor, its bytes)], or the message (text) with which the file is refused."""
        error, handle = Error(), c.c_void_p()
        if self.lib.wte_file_open_memory(data, len(data), b"t", None, c.byref(handle), c.byref(error)):
            return error.message.decode()
        found = []
        for i in range(self.lib.wte_file_n_tensors(handle)):
            tensor = Tensor()
            assert self.lib.wte_file_tensor(handle, i, c.byref(tensor), c.byref(error)) == 0
            content = c.create_string_buffer(max(1, tensor.bytes))
            assert self.lib.wte_file_read(handle, i, 0, content, tensor.bytes, c.byref(error)) == 0
            found.append((c.string_at(tensor.name, tensor.name_bytes), tensor, content.raw[: tensor.bytes]))
        self.lib.wte_file_free(handle)
        return found

    @staticmethod
    def outs(tensors):
        """The structs of [(name, type number, shape, bytes, ...)]."""
        out = (TensorOut * len(tensors))()
        for item, (name, dtype, shape, data, *_) in zip(out, tensors):
            item.name, item.dtype, item.rank, item.data = name, dtype, len(shape), data
            item.shape = (c.c_uint64 * max(1, len(shape)))(*shape)
        return out

    @staticmethod
    def pairs(metadata):
        flat = [text.encode() for pair in metadata.items() for text in pair]
        return (c.c_char_p * max(1, len(flat)))(*flat)

    def write_safetensors(self, path, tensors, metadata):
        """tensors: [(name, type number, shape, bytes)]; metadata: {text: text}."""
        error = Error()
        if self.lib.wte_safetensors_write(
            path.encode(), self.outs(tensors), c.c_size_t(len(tensors)), self.pairs(metadata), c.c_size_t(len(metadata)), c.byref(error)
        ):
            raise RuntimeError(error.message.decode())

    def write_gguf(self, path, tensors, metadata, alignment):
        """tensors: [(name, type number, shape, bytes, number of the block type)]; metadata: {text: text}."""
        error = Error()
        pairs = self.pairs(metadata)
        options = GgufOptions(struct_size=c.sizeof(GgufOptions), architecture=b"llama", alignment=alignment)
        options.metadata, options.n_metadata = c.cast(pairs, c.c_void_p), len(metadata)
        blocks = (c.c_int * len(tensors))(*(t[4] for t in tensors))
        if self.lib.wte_gguf_write(
            path.encode(), self.outs(tensors), blocks, c.c_size_t(len(tensors)), c.byref(options), c.byref(error)
        ):
            raise RuntimeError(error.message.decode())
