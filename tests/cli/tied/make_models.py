"""Write small models in gpt2's layout into the current folder, one for each verdict.

Element [r, c] of every table is 10 r + c, so what a report says can be checked by eye.
"""
import json
import pathlib
import struct

GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 6, "n_embd": 3}
ROWS, DIM = 6, 3


def numbers(rows=ROWS, dim=DIM):
    return [10.0 * r + c for r in range(rows) for c in range(dim)]


def f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def bf16(values):
    return b"".join(struct.pack("<f", v)[2:] for v in values)


def safetensors(path, tensors):
    """tensors: name -> (dtype, shape, bytes)"""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def model(name, head=None, config=None):
    folder = pathlib.Path(name)
    folder.mkdir()
    tensors = {"wte.weight": ("F32", [ROWS, DIM], f32(numbers())),
               "wpe.weight": ("F32", [4, DIM], f32([0.5] * 4 * DIM))}
    if head:
        tensors["lm_head.weight"] = head
    safetensors(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(GPT2 | (config or {})))


def main():
    copy = ("F32", [ROWS, DIM], f32(numbers()))
    raw = bytearray(copy[2])
    raw[4 * (2 * DIM + 1)] ^= 1  # the lowest bit of [2, 1]
    one_bit = ("F32", [ROWS, DIM], bytes(raw))
    other = numbers()
    other[4 * DIM : 5 * DIM] = [1.5 * v for v in other[4 * DIM : 5 * DIM]]
    untied = {"tie_word_embeddings": False}
    model("tied")
    model("copy", copy)
    model("copy_untied", copy, untied)
    model("one_bit", one_bit, untied)
    model("flag_lies", ("F32", [ROWS, DIM], f32(other)))
    model("no_head", None, untied)
    model("headless", None, {"architectures": ["GPT2Model"]})
    model("two_types", ("BF16", [ROWS, DIM], bf16(numbers())))
    model("impossible", ("F32", [4, DIM], f32(numbers(4))))
    model("input_only", ("F32", [4, DIM], f32(numbers(4))), untied)


main()
