#!/usr/bin/env python3
"""Write tests/data/quant: small tables packed by the packages themselves, and what these make of them.

usage: make_golden_quant.py mlx                          (with mlx 0.32.4)
       make_golden_quant.py awq packing_utils.py         (of autoawq 0.2.9, with torch 1.13)
       make_golden_quant.py compressed helpers.py        (pack_quantized of compressed-tensors 0.20.1, with torch 1.13)
       make_golden_quant.py hqq bitpack.py               (of hqq 0.2.8, with torch 1.13)

Each writes KIND/model.safetensors and KIND/config.json. A table is called NAME.weight, NAME.qweight, ...; what it means
is NAME.expected, f32: by dequantize of mlx, by unpack_awq and the order of autoawq; of the other two, whose packing alone is
theirs, (q - zero) * scale.
"""
import importlib.util
import json
import pathlib
import struct
import sys

OUT = pathlib.Path(__file__).resolve().parent / "data/quant"
TYPES = {"float32": "F32", "float16": "F16", "uint8": "U8", "int32": "I32", "uint32": "U32", "int64": "I64"}


def write(kind, config, tensors):
    """tensors: name -> NumPy array."""
    header, at, data = {}, 0, b""
    for name in sorted(tensors):
        array = tensors[name]
        raw = array.tobytes()
        header[name] = {"dtype": TYPES[str(array.dtype)], "shape": list(array.shape), "data_offsets": [at, at + len(raw)]}
        at += len(raw)
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    folder = OUT / kind
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config) + "\n")


def load(path):
    spec = importlib.util.spec_from_file_location("package_part", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_mlx():
    import mlx.core as mx
    import numpy as np

    mx.set_default_device(mx.cpu)
    w = mx.random.normal((6, 64), key=mx.random.key(3))
    tensors, said = {}, {"group_size": 64, "bits": 4}
    for bits in (2, 3, 4, 5, 6, 8):
        q, s, b = mx.quantize(w, group_size=32, bits=bits)
        name = f"affine{bits}"
        said[name] = {"group_size": 32, "bits": bits}
        tensors |= {f"{name}.weight": q, f"{name}.scales": s, f"{name}.biases": b}
        tensors[f"{name}.expected"] = mx.dequantize(q, s, b, group_size=32, bits=bits)
    for mode in ("mxfp4", "mxfp8", "nvfp4"):
        q, s = mx.quantize(w, mode=mode)[:2]
        said[mode] = {"mode": mode}
        tensors |= {f"{mode}.weight": q, f"{mode}.scales": s}
        tensors[f"{mode}.expected"] = mx.dequantize(q, s, None, mode=mode).astype(mx.float32)
    write("mlx", {"quantization": said}, {name: np.array(t) for name, t in tensors.items()})


def make_awq(path):
    import torch

    package = load(path)
    torch.manual_seed(1)
    rows, dim, group = 16, 64, 32
    words = torch.randint(-(2**31), 2**31, (dim + dim // group, rows // 8), dtype=torch.int64).to(torch.int32)
    q, z = words[:dim].contiguous(), words[dim:].contiguous()
    s = torch.rand(dim // group, rows).half()
    # dequantize_gemm, but for an index of 32 bits that torch 1.13 does not take
    order = torch.arange(rows).view(-1, 8)[:, package.AWQ_REVERSE_ORDER].reshape(-1)
    codes, zeros = (x[:, order] & 15 for x in package.unpack_awq(q, z, 4))
    wide = [x.repeat_interleave(group, dim=0) for x in (zeros, s.float())]
    expected = ((codes - wide[0]) * wide[1]).t().contiguous()
    said = {"quant_method": "awq", "version": "gemm", "bits": 4, "group_size": group}
    tensors = {"t.qweight": q, "t.qzeros": z, "t.scales": s, "t.expected": expected}
    write("awq", {"quantization_config": said}, {name: t.numpy() for name, t in tensors.items()})


BITS = (1, 2, 3, 4, 5, 6, 8)  # 8 fills as many words as 7 did in an older layout: the config has to name it


def make_compressed(path):
    import torch

    package = load(path)
    torch.manual_seed(2)
    rows, dim, group = 6, 96, 32
    tensors = {}
    for bits in BITS:
        half = 1 << (bits - 1)
        q = torch.randint(-half, half, (rows, dim)).to(torch.int8)
        z = torch.randint(-half, half, (rows, dim // group)).to(torch.int8)
        s = torch.rand(rows, dim // group)
        name = f"b{bits}"
        wide = [x.repeat_interleave(group, dim=1) for x in (z.float(), s)]
        tensors |= {
            f"{name}.weight_packed": package.pack_to_int32(q, bits),
            f"{name}.weight_zero_point": package.pack_to_int32(z, bits, packed_dim=0).contiguous(),
            f"{name}.weight_scale": s,
            f"{name}.weight_shape": torch.tensor([rows, dim]),
            f"{name}.expected": (q.float() - wide[0]) * wide[1],
        }
    said = {"quant_method": "compressed-tensors", "format": "pack-quantized"}
    said["config_groups"] = {f"group_{b}": {"weights": {"num_bits": b}} for b in BITS}
    write("compressed", {"quantization_config": said}, {name: t.numpy() for name, t in tensors.items()})


def make_hqq(path):
    import torch

    pack = load(path).BitPack
    torch.manual_seed(3)
    rows, dim, group = 16, 64, 32
    packers = {1: pack.pack_1bit_u8, 2: pack.pack_2bit_u8, 3: pack.pack_3bit_32, 4: pack.pack_4bit_u8, 8: pack.pack_8bit_u8}
    tensors = {}
    for bits, packer in packers.items():
        q = torch.randint(0, 1 << bits, (rows * dim // group, group))
        z, s = torch.rand(len(q), 1) * (1 << bits), torch.rand(len(q), 1)
        name = f"b{bits}"
        tensors |= {f"{name}.{key}": torch.tensor(n, dtype=torch.int32) for key, n in (("nbits", bits), ("axis", 1), ("group_size", group))}
        tensors |= {
            f"{name}.W_q": packer(q.to(torch.int32 if bits == 3 else torch.uint8)),
            f"{name}.zero": z,
            f"{name}.scale": s,
            f"{name}.shape": torch.tensor([rows, dim]),
            f"{name}.expected": ((q.float() - z) * s).reshape(rows, dim),
        }
    write("hqq", {"quantization_config": {"quant_method": "hqq"}}, {name: t.contiguous().numpy() for name, t in tensors.items()})


{"mlx": make_mlx, "awq": make_awq, "compressed": make_compressed, "hqq": make_hqq}[sys.argv[1]](*sys.argv[2:])
