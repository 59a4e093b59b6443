"""Small quantised models of every scheme, packed by the schemes' documentation: for the oracle, the sessions and the
seeds of the fuzz target. Plain Python: codes, zeros and scales are drawn, the table that they mean is computed from
them, and only then are they packed, each field by its place in one large integer.

usage: quant_models.py SCHEME FOLDER    write one of them as FOLDER/model.safetensors and FOLDER/config.json
"""
import json
import pathlib
import random
import struct
import sys

NF4 = [-1, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.09105004, 0, 0.0795803, 0.1609302, 0.2461123,
       0.33791524, 0.44070983, 0.562617, 0.72295684, 1]  # fmt: skip
FP4 = [0, 0.0625, 8, 12, 4, 6, 2, 3]
E2M1 = [0.0, 0.5, 1, 1.5, 2, 3, 4, 6]
EMBED, HEAD = "model.embed_tokens", "lm_head"


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def pack(code, values):
    return struct.pack(f"<{len(values)}{code}", *values)


def bf16(values):
    return b"".join(struct.pack("<f", v)[2:] for v in values)


def stream(fields, bits, unit=4):
    """Fields of a dense stream, the first lowest, filled up to whole units."""
    whole = sum(f << (i * bits) for i, f in enumerate(fields))
    n = -(-len(fields) * bits // (8 * unit)) * unit
    return whole.to_bytes(n, "little")


def by_words(fields, bits):
    """As many whole fields a word as fit, spare bits on top."""
    per = 32 // bits
    return b"".join(stream(fields[i : i + per], bits) for i in range(0, len(fields), per))


def transposed(columns, element=4):
    """Bytes of a matrix, given its columns as bytes."""
    n = len(columns[0])
    return b"".join(c[i : i + element] for i in range(0, n, element) for c in columns)


def flat(rows):
    return [x for row in rows for x in row]


def grouped(dim, group, act=False):
    if dim == group:
        return "one scale a row"
    return f"groups of {group}{' (reordered)' if act else ''}"


def e4m3(code):
    sign, e, m = -1 if code & 128 else 1, code >> 3 & 15, code & 7
    return sign * (m * 2.0**-9 if e == 0 else (1 + m / 8) * 2.0 ** (e - 7))


class Model:
    def __init__(self, scheme, stem, config, values, tensors):
        self.scheme, self.stem, self.config, self.values = scheme, stem, config, values
        self.tensors = [(stem + name, dtype, list(shape), data) for name, dtype, shape, data in tensors]

    def file(self):
        """The bytes of a safetensors file."""
        header, at = {}, 0
        for name, dtype, shape, data in self.tensors:
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
            at += len(data)
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        return struct.pack("<Q", len(text)) + text + b"".join(t[3] for t in self.tensors)

    def write(self, folder):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "model.safetensors").write_bytes(self.file())
        (folder / "config.json").write_text(json.dumps(self.config))


class Draw:
    def __init__(self, seed):
        self.rng = random.Random(seed)

    def codes(self, rows, cols, bits):
        return [[self.rng.randrange(1 << bits) for _ in range(cols)] for _ in range(rows)]

    def scales(self, rows, cols, top=2047):
        """Exact in f16 (top 2047) or bf16 (top 255)."""
        return [[self.rng.randrange(1, top + 1) / 1024 for _ in range(cols)] for _ in range(rows)]


def config(**quantization):
    return {"model_type": "llama", "quantization_config": quantization}


# AWQ and GPTQ ------------------------------------------------------------------------------------


def gptq(d, rows, dim, bits=4, group=32, v2=False, act=False):
    groups = -(-dim // group)
    q, z, s = d.codes(rows, dim, bits), d.codes(groups, rows, bits), d.scales(groups, rows)
    index = [c // group for c in range(dim)]
    if act:
        d.rng.shuffle(index)
    values = [[s[index[c]][v] * (q[v][c] - z[index[c]][v]) for c in range(dim)] for v in range(rows)]
    stored = [[(x if v2 else x - 1) % (1 << bits) for x in line] for line in z]
    said = config(quant_method="gptq", bits=bits, group_size=group, desc_act=act)
    if v2:
        said["quantization_config"]["checkpoint_format"] = "gptq_v2"
    name = f"gptq{' v2' if v2 else ''} {bits} bits, {grouped(dim, group, act)}"
    return Model(name, HEAD, said, values, [
        (".g_idx", "I32", [dim], pack("i", index)),
        (".qweight", "I32", [dim * bits // 32, rows], transposed([stream(row, bits) for row in q])),
        (".qzeros", "I32", [groups, rows * bits // 32], b"".join(stream(line, bits) for line in stored)),
        (".scales", "F16", [groups, rows], pack("e", flat(s))),
    ])  # fmt: skip


AWQ_ORDER = [0, 2, 4, 6, 1, 3, 5, 7]


def awq_words(line):
    return b"".join(stream([line[8 * w + k] for k in AWQ_ORDER], 4) for w in range(len(line) // 8))


def awq_gemm(d, rows, dim, group=32):
    groups = dim // group
    q, z, s = d.codes(dim, rows, 4), d.codes(groups, rows, 4), d.scales(groups, rows)
    values = [[(q[c][v] - z[c // group][v]) * s[c // group][v] for c in range(dim)] for v in range(rows)]
    said = config(quant_method="awq", version="gemm", bits=4, group_size=group, zero_point=True)
    return Model(f"awq gemm 4 bits, {grouped(dim, group)}", HEAD, said, values, [
        (".qweight", "I32", [dim, rows // 8], b"".join(awq_words(line) for line in q)),
        (".qzeros", "I32", [groups, rows // 8], b"".join(awq_words(line) for line in z)),
        (".scales", "F16", [groups, rows], pack("e", flat(s))),
    ])  # fmt: skip


def awq_gemv(d, rows, dim, group=64):
    groups, step = dim // group, {32: 4, 64: 2}.get(group, 1)
    words = -(-(-(-groups // 8)) // step) * step
    q, z, s = d.codes(rows, dim, 4), d.codes(rows, groups, 4), d.scales(rows, groups)
    values = [[(q[v][c] - z[v][c // group]) * s[v][c // group] for c in range(dim)] for v in range(rows)]
    fill = lambda line, n: line + [0] * (n - len(line))  # noqa: E731
    said = config(quant_method="awq", version="gemv", bits=4, group_size=group)
    return Model(f"awq gemv 4 bits, {grouped(dim, group)}", HEAD, said, values, [
        (".qweight", "I32", [rows, dim // 8], b"".join(stream(row, 4) for row in q)),
        (".qzeros", "I32", [rows, words], b"".join(stream(fill(line, 8 * words), 4) for line in z)),
        (".scales", "F16", [rows, 8 * words], b"".join(pack("e", fill(line, 8 * words)) for line in s)),
    ])  # fmt: skip


# bitsandbytes ------------------------------------------------------------------------------------


def bnb4(d, rows, dim, kind="nf4", block=64, nested=False):
    codes = d.codes(1, rows * dim, 4)[0]
    table = [f32(x) for x in (NF4 if kind == "nf4" else [x / 12 for x in FP4] + [-x / 12 for x in FP4])]
    blocks, inner = -(-rows * dim // block), 32
    state = {"quant_type": kind, "blocksize": block, "dtype": "bfloat16", "shape": [rows, dim]}
    tensors = []
    if nested:
        state.update(nested_blocksize=inner, nested_dtype="float32", nested_offset=f32(0.3))
        book, outer = [f32(i / 255) for i in range(256)], d.scales(1, -(-blocks // inner))[0]
        small = d.codes(1, blocks, 8)[0]
        absmax = [f32(f32(book[c] * outer[i // inner]) + f32(0.3)) for i, c in enumerate(small)]
        tensors = [
            (".weight.absmax", "U8", [blocks], bytes(small)),
            (".weight.nested_absmax", "F32", [len(outer)], pack("f", outer)),
            (".weight.nested_quant_map", "F32", [256], pack("f", book)),
        ]
    else:
        absmax = d.scales(1, blocks)[0]
        tensors = [(".weight.absmax", "F32", [blocks], pack("f", absmax))]
    line = [f32(table[c] * absmax[i // block]) for i, c in enumerate(codes)]
    pairs = codes + [0] * (len(codes) % 2)
    packed = bytes(pairs[i] << 4 | pairs[i + 1] for i in range(0, len(pairs), 2))
    text = json.dumps(state).encode()
    name = f"bitsandbytes {kind}, blocks of {block}{', scales quantised too' if nested else ''}"
    return Model(name, EMBED, config(quant_method="bitsandbytes", load_in_4bit=True),
                 [line[v * dim : (v + 1) * dim] for v in range(rows)], [
        (".weight", "U8", [len(packed), 1], packed), *tensors,
        (".weight.quant_map", "F32", [16], pack("f", table)),
        (f".weight.quant_state.bitsandbytes__{kind}", "U8", [len(text)], text),
    ])  # fmt: skip


def bnb8(d, rows, dim):
    q = [[c - 128 for c in row] for row in d.codes(rows, dim, 8)]
    s = [f32(x[0]) for x in d.scales(rows, 1)]
    values = [[f32(f32(c * s[v]) * f32(1 / 127)) for c in row] for v, row in enumerate(q)]
    return Model("bitsandbytes int8, one scale a row", HEAD, config(quant_method="bitsandbytes", load_in_8bit=True), values, [
        (".SCB", "F32", [rows], pack("f", s)),
        (".weight", "I8", [rows, dim], pack("b", flat(q))),
        (".weight_format", "U8", [], b"\0"),
    ])  # fmt: skip


# compressed-tensors ------------------------------------------------------------------------------


def compressed(format, **weights):
    groups = {"group_0": {"targets": ["Embedding"], "weights": weights}}
    return config(quant_method="compressed-tensors", format=format, config_groups=groups)


def ct_packed(d, rows, dim, bits=4, group=32, zeros=False, dense=True, act=False, one=False):
    groups = 1 if one else dim // group
    q, s = d.codes(rows, dim, bits), d.scales(1 if one else rows, groups, 255)
    z = d.codes(rows, groups, bits)
    index = [c // group for c in range(dim)]
    if act:
        d.rng.shuffle(index)
    half = 1 << (bits - 1)

    def value(v, c):
        g = 0 if one else index[c]
        return (q[v][c] - (z[v][g] if zeros else half)) * s[0 if one else v][g]

    lay = stream if dense else by_words
    rows_of = [lay(row, bits) for row in q]
    tensors = [
        (".weight_packed", "I32", [rows, len(rows_of[0]) // 4], b"".join(rows_of)),
        (".weight_scale", "BF16", [1] if one else [rows, groups], bf16(flat(s))),
        (".weight_shape", "I64", [2], pack("q", [rows, dim])),
    ]
    if act:
        tensors.append((".weight_g_idx", "I32", [dim], pack("i", index)))
    if zeros:
        columns = [lay([z[v][g] for v in range(rows)], bits) for g in range(groups)]
        tensors.append((".weight_zero_point", "I32", [len(columns[0]) // 4, groups], transposed(columns)))
    name = f"compressed-tensors {bits} bit{'s' * (bits > 1)}, " + ("one scale" if one else grouped(dim, group, act))
    values = [[value(v, c) for c in range(dim)] for v in range(rows)]
    return Model(name, EMBED, compressed("pack-quantized", num_bits=bits, type="int", group_size=group), values, tensors)


def ct_plain(d, rows, dim, floats=False, zeros=False):
    raw, s = d.codes(rows, dim, 7), d.scales(rows, 1, 255)
    z = d.codes(rows, 1, 4)
    number = e4m3 if floats else int
    raw = [[min(c, 126) for c in row] for row in raw]
    values = [[f32((number(c) - (z[v][0] if zeros else 0)) * s[v][0]) for c in row] for v, row in enumerate(raw)]
    tensors = [
        (".weight", "F8_E4M3" if floats else "I8", [rows, dim], bytes(flat(raw))),
        (".weight_scale", "BF16", [rows, 1], bf16(flat(s))),
    ]
    if zeros:
        tensors.append((".weight_zero_point", "I8", [rows, 1], bytes(flat(z))))
    name = f"compressed-tensors {'f8_e4m3' if floats else '8 bits'}, one scale a row"
    said = compressed("float-quantized" if floats else "int-quantized", num_bits=8)
    return Model(name, EMBED, said, values, tensors)


def fp4_rows(q):
    return b"".join(stream(row, 4, 1) for row in q)


def e2m1(c):
    return -E2M1[c - 8] if c > 7 else E2M1[c]


def ct_fp4(d, rows, dim, nv=True):
    group = 16 if nv else 32
    q, whole = d.codes(rows, dim, 4), 2.5
    raw = [[min(c + 1, 126) if nv else 120 + c % 16 for c in row] for row in d.codes(rows, dim // group, 7)]
    scale = [[f32(e4m3(c) / whole) if nv else 2.0 ** (c - 127) for c in row] for row in raw]
    values = [[f32(e2m1(c) * scale[v][i // group]) for i, c in enumerate(row)] for v, row in enumerate(q)]
    tensors = [
        (".weight_packed", "U8", [rows, dim // 2], fp4_rows(q)),
        (".weight_scale", "F8_E4M3" if nv else "U8", [rows, dim // group], bytes(flat(raw))),
    ]
    if nv:
        tensors.append((".weight_global_scale", "F32", [1], pack("f", [whole])))
    name = f"compressed-tensors {'nvfp4' if nv else 'mxfp4'}, {grouped(dim, group)}"
    return Model(name, EMBED, compressed("nvfp4-pack-quantized" if nv else "mxfp4-pack-quantized"), values, tensors)


# MLX and HQQ -------------------------------------------------------------------------------------


def mlx(d, rows, dim, bits=4, group=64, own=False):
    q, s, b = d.codes(rows, dim, bits), d.scales(rows, dim // group, 255), d.scales(rows, dim // group, 255)
    values = [[f32(s[v][i // group] * c - b[v][i // group]) for i, c in enumerate(row)] for v, row in enumerate(q)]
    said = {"group_size": group, "bits": bits}
    if own:
        said = {"group_size": 32, "bits": 8, EMBED: said}
    return Model(f"mlx affine {bits} bits, {grouped(dim, group)}", EMBED, {"model_type": "llama", "quantization": said}, values, [
        (".biases", "BF16", [rows, dim // group], bf16([-x for x in flat(b)])),
        (".scales", "BF16", [rows, dim // group], bf16(flat(s))),
        (".weight", "U32", [rows, dim * bits // 32], b"".join(stream(row, bits) for row in q)),
    ])  # fmt: skip


def mlx_small(d, rows, dim, mode):
    bits, group = {"mxfp4": (4, 32), "mxfp8": (8, 32), "nvfp4": (4, 16)}[mode]
    q = [[min(c, 126) for c in row] for row in d.codes(rows, dim, bits)]
    raw = [[min(c, 126) if mode == "nvfp4" else 120 + c % 16 for c in row] for row in d.codes(rows, dim // group, 7)]
    scale = [[e4m3(c) if mode == "nvfp4" else 2.0 ** (c - 127) for c in row] for row in raw]
    number = e4m3 if mode == "mxfp8" else e2m1
    values = [[f32(number(c) * scale[v][i // group]) for i, c in enumerate(row)] for v, row in enumerate(q)]
    said = {"model_type": "llama", "quantization": {"group_size": group, "bits": bits, "mode": mode}}
    return Model(f"mlx {mode}, {grouped(dim, group)}", EMBED, said, values, [
        (".scales", "U8", [rows, dim // group], bytes(flat(raw))),
        (".weight", "U32", [rows, dim * bits // 32], b"".join(stream(row, bits) for row in q)),
    ])  # fmt: skip


PARTS = {1: 8, 2: 4, 3: 10, 4: 2, 5: 1, 6: 1, 8: 1}


def hqq(d, rows, dim, bits=4, group=64, axis=1):
    n = rows * dim
    height, width = (n // group, group) if axis == 1 else (group, n // group)
    q = d.codes(height, width, bits)
    k = height if axis == 1 else width
    s, z = d.scales(1, k)[0], [x * 4 for x in d.scales(1, k)[0]]
    line = [f32(f32(q[r][c] - z[r if axis == 1 else c]) * s[r if axis == 1 else c]) for r in range(height) for c in range(width)]
    part = -(-height // PARTS[bits])
    padded = q + [[0] * width] * (part * PARTS[bits] - height)
    words = []
    for r in range(part):
        for c in range(width):
            word = 0
            for p in range(PARTS[bits]):
                word = word << bits | padded[r + p * part][c]
            words.append(word)
    lists = [k, 1] if axis == 1 else [1, k]
    number = lambda x: ("I32", [], pack("i", [x]))  # noqa: E731
    name = f"hqq {bits} bit{'s' * (bits > 1)}, groups of {group}{' across rows' if axis == 0 else ''}"
    return Model(name, HEAD, config(quant_method="hqq"), [line[v * dim : (v + 1) * dim] for v in range(rows)], [
        (".W_q", "I32" if bits == 3 else "U8", [part, width], pack("i" if bits == 3 else "B", words)),
        (".axis", *number(axis)), (".group_size", *number(group)), (".nbits", *number(bits)),
        (".scale", "F16", lists, pack("e", s)), (".shape", "I64", [2], pack("q", [rows, dim])),
        (".zero", "F16", lists, pack("e", z)),
    ])  # fmt: skip


MAKERS = {
    "awq-gemm": lambda d, r, c: awq_gemm(d, r, c),
    "awq-gemv": lambda d, r, c: awq_gemv(d, r, c),
    "awq-gemv-128": lambda d, r, c: awq_gemv(d, r, c, group=128),
    "bnb-fp4": lambda d, r, c: bnb4(d, r, c, "fp4"),
    "bnb-int8": lambda d, r, c: bnb8(d, r, c),
    "bnb-nf4": lambda d, r, c: bnb4(d, r, c),
    "bnb-nf4-nested": lambda d, r, c: bnb4(d, r, c, nested=True),
    "bnb-nf4-odd": lambda d, r, c: bnb4(d, r - 1, c - 1),
    "ct-f8": lambda d, r, c: ct_plain(d, r, c, floats=True),
    "ct-int8": lambda d, r, c: ct_plain(d, r, c, zeros=True),
    "ct-mxfp4": lambda d, r, c: ct_fp4(d, r, c, nv=False),
    "ct-nvfp4": lambda d, r, c: ct_fp4(d, r, c),
    "ct-one-scale": lambda d, r, c: ct_packed(d, r, c, one=True),
    "ct-reordered": lambda d, r, c: ct_packed(d, r, c, act=True),
    "gptq-reordered": lambda d, r, c: gptq(d, r, c, act=True),
    "gptq-v2": lambda d, r, c: gptq(d, r, c, v2=True),
    "hqq-columns": lambda d, r, c: hqq(d, r, c, axis=0),
    "mlx-own": lambda d, r, c: mlx(d, r, c, own=True),
    **{f"ct-{b}": lambda d, r, c, b=b: ct_packed(d, r, c, b, zeros=True) for b in range(1, 9)},
    **{f"ct-{b}-words": lambda d, r, c, b=b: ct_packed(d, r, c, b, zeros=True, dense=False) for b in (3, 5, 6, 7)},
    **{f"gptq-{b}": lambda d, r, c, b=b: gptq(d, r, c, b) for b in (2, 3, 4, 8)},
    **{f"hqq-{b}": lambda d, r, c, b=b: hqq(d, r, c, b) for b in PARTS},
    **{f"mlx-{b}": lambda d, r, c, b=b: mlx(d, r, c, b) for b in (2, 3, 4, 5, 6, 8)},
    **{f"mlx-{m}": lambda d, r, c, m=m: mlx_small(d, r, c, m) for m in ("mxfp4", "mxfp8", "nvfp4")},
}


def make(name, rows=32, dim=128, seed=1):
    return MAKERS[name](Draw(f"{name} {seed}"), rows, dim)


if __name__ == "__main__":
    make(sys.argv[1]).write(sys.argv[2])
