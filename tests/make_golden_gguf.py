#!/usr/bin/env python3
"""Write the GGUF files of tests/data/gguf with the format's own Python package (PyPI gguf 0.19.0).

usage: make_golden_gguf.py OUTPUT_DIRECTORY

types.gguf and big.gguf hold one 2 x 256 tensor of each type, named like it; number i of each is the value of
`values` below, in that type. Beside them, types.txt has a line "TYPE ROW HEX" for each row: its f32 numbers, as the package
dequantises them. tokens.gguf has a vocabulary.
"""
import pathlib
import sys

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type

ROWS, DIM = 2, 256
PLAIN = {Type.F32: "f4", Type.F16: "f2", Type.F64: "f8", Type.I8: "i1", Type.I16: "i2", Type.I32: "i4", Type.I64: "i8"}
CODED = [Type.BF16, Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.TQ1_0, Type.TQ2_0]
TOKENS = ["<unk>", "<s>", "</s>", "<0x0A>", "▁the", "ing", "<extra>", "[PAD7]"]
KINDS = [2, 3, 3, 6, 1, 1, 4, 5]


def values():
    i = np.arange(ROWS * DIM, dtype=np.float32).reshape(ROWS, DIM)
    return np.sin(i * np.float32(0.37)) * (np.float32(1) + i % 7)


def writer(path, big=False):
    order = gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE
    made = gguf.GGUFWriter(str(path), "llama", endianess=order)
    made.add_name("golden")
    made.add_embedding_length(DIM)
    return made


def finish(made):
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()


def add_types(made, coded, lines):
    plain = values()
    for kind, code in PLAIN.items():
        data = plain.astype(code)
        made.add_tensor(kind.name, data)
        lines += [f"{kind.name} {r} {data[r].astype('<f4').tobytes().hex()}\n" for r in range(ROWS)]
    for kind in coded:
        data = gguf.quants.quantize(plain, kind)
        back = gguf.quants.dequantize(data, kind).astype("<f4")
        made.add_tensor(kind.name, data, raw_dtype=kind)
        lines += [f"{kind.name} {r} {back[r].tobytes().hex()}\n" for r in range(ROWS)]


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    lines = []
    made = writer(out / "types.gguf")
    add_types(made, CODED, lines)
    finish(made)
    (out / "types.txt").write_text("".join(lines))
    made = writer(out / "big.gguf", big=True)
    add_types(made, [], [])
    finish(made)
    made = writer(out / "tokens.gguf")
    made.add_tokenizer_model("llama")
    made.add_token_list(TOKENS)
    made.add_token_scores([float(-i) for i in range(len(TOKENS))])
    made.add_token_types(KINDS)
    made.add_pad_token_id(2)
    made.add_tensor("token_embd.weight", np.arange(8 * len(TOKENS), dtype=np.float32).reshape(-1, 8))
    finish(made)


main()
