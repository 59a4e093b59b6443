"""Seeds of the GGUF target: whole files of every type, both byte orders, and one fault each."""
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
SCALARS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B", U64: "Q", I64: "q", F64: "d"}
# type id: (elements of a block, its bytes)
BLOCKS = {0: (1, 4), 1: (1, 2), 30: (1, 2), 28: (1, 8), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 2: (32, 18), 3: (32, 20), 6: (32, 22),
          7: (32, 24), 8: (32, 34), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 16: (256, 66), 17: (256, 74),
          18: (256, 98), 19: (256, 50), 20: (32, 18), 21: (256, 110), 22: (256, 82), 23: (256, 136), 29: (256, 56), 34: (256, 54), 35: (256, 66),
          39: (32, 17), 40: (64, 36), 41: (128, 18), 42: (64, 18)}  # fmt: skip


class File:
    def __init__(self, order="<", version=3, alignment=32):
        self.order, self.version, self.alignment = order, version, alignment
        self.pairs, self.tensors, self.data = [], [], b""

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def text(self, text):
        text = text if isinstance(text, bytes) else text.encode()
        return self.pack("Q", len(text)) + text

    def value(self, kind, value):
        return self.text(value) if kind == STRING else self.pack(SCALARS[kind], value)

    def pair(self, key, kind, value):
        self.pairs.append(self.text(key) + self.pack("I", kind) + self.value(kind, value))
        return self

    def array(self, key, kind, values):
        head = self.text(key) + self.pack("IIQ", ARRAY, kind, len(values))
        self.pairs.append(head + b"".join(self.value(kind, v) for v in values))
        return self

    def tensor(self, name, ne, kind, data=None):
        n = 1
        for size in ne:
            n *= size
        elements, size = BLOCKS.get(kind, (1, 1))  # those of a foreign type are given
        data = bytes((i * 37 + 11) % 256 for i in range(n // elements * size)) if data is None else data
        head = self.text(name) + self.pack("I", len(ne)) + b"".join(self.pack("Q", x) for x in ne)
        self.tensors.append(head + self.pack("IQ", kind, len(self.data)))
        self.data += data + bytes(-len(data) % self.alignment)
        return self

    def bytes(self):
        head = b"GGUF" + self.pack("IQQ", self.version, len(self.tensors), len(self.pairs))
        head += b"".join(self.pairs) + b"".join(self.tensors)
        return head + bytes(-len(head) % self.alignment) + self.data


def model(order="<", tokenizer="llama"):
    f = File(order).pair("general.architecture", STRING, "llama").pair("general.name", STRING, "seed")
    f.pair("llama.embedding_length", U32, 32).pair("llama.embedding_scale", F32, 12.0)
    f.pair("tokenizer.ggml.model", STRING, tokenizer).pair("tokenizer.ggml.padding_token_id", U32, 0)
    f.array("tokenizer.ggml.tokens", STRING, ["<pad>", "▁the", "ing", "▁"]).array("tokenizer.ggml.scores", F32, [0, -1, -2, -3])
    f.array("tokenizer.ggml.token_type", I32, [3, 1, 1, 4])
    return f.tensor("token_embd.weight", [32, 4], 8).tensor("output_norm.weight", [32], 0)


def seeds_gguf():
    yield "model", model().bytes()
    yield "bert", model(tokenizer="bert").bytes()
    yield "gpt2", model(tokenizer="gpt2").bytes()
    yield "big", model(">").bytes()
    yield "version2", File(version=2).tensor("t", [2, 3], 0).bytes()
    yield "nothing", File().bytes()
    for kind, (elements, _) in BLOCKS.items():
        yield f"type{kind}", File().tensor("t", [elements, 3 if elements < 256 else 2], kind).bytes()
    every = File()
    for kind in SCALARS:
        every.pair(f"key.{kind}", kind, 1).array(f"list.{kind}", kind, [0, 1, 1])
    yield "values", every.pair("text", STRING, "a text").array("texts", STRING, ["", "b"]).bytes()
    yield "shapes", File().tensor("scalar", [], 0).tensor("one", [7], 1).tensor("cube", [2, 3, 4], 24).tensor("four", [8, 3, 1, 1], 0).bytes()
    yield "empty", File().tensor("none", [8, 0], 0).tensor("t", [1], 24).bytes()
    yield "aligned", File(alignment=8).pair("general.alignment", U32, 8).tensor("a", [3], 24).tensor("b", [3], 24).bytes()
    yield "alignment0", File().pair("general.alignment", U32, 0).bytes()
    yield "alignment30", File().pair("general.alignment", U32, 1 << 30).bytes()
    yield "twice", File().tensor("t", [1], 0).tensor("t", [1], 0).bytes()
    yield "key_twice", File().pair("k", U8, 1).pair("k", U8, 1).bytes()
    yield "key_other", File().pair("general.name", U8, 1).pair("general.name", U8, 2).bytes()
    yield "align_other", File().pair("general.alignment", U32, 8).pair("general.alignment", U32, 32).bytes()
    yield "foreign", File().tensor("odd", [32], 200, bytes(48)).tensor("t", [4], 0).bytes()
    yield "foreign_last", File().tensor("t", [4], 0).tensor("odd", [32, 2], 42, bytes(7)).bytes()
    yield "split", File().pair("split.count", U16, 3).pair("split.no", U16, 0).bytes()
    whole = model().bytes()
    yield "cut", whole[:-40]
    yield "counts", whole[:8] + b"\xff" * 16 + whole[24:]
    yield "version1", b"GGUF" + struct.pack("<III", 1, 0, 0)
