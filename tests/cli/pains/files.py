"""Small files for the cases of this folder: what a report describes, in the fewest bytes that show it.

Tables are lists of rows of numbers. A case runs `PYTHONPATH="$DATA/../cli/pains" python3 -B - <<END` and imports this.
"""
import json
import pathlib
import random
import struct

LLAMA = {"model_type": "llama", "architectures": ["LlamaForCausalLM"]}
EMBED = "model.embed_tokens.weight"
HEAD = "lm_head.weight"


def llama(vocab, dim, tied=True):
    """config.json of a decoder."""
    return LLAMA | {"vocab_size": vocab, "hidden_size": dim, "tie_word_embeddings": tied}


def table(rows, dim):
    """Element [r, c] is 10 r + c + 1: no row is zero, no two are equal, and each can be told by eye."""
    return [[10.0 * r + c + 1 for c in range(dim)] for r in range(rows)]


def flat(rows):
    return [value for row in rows for value in row]


def f32(rows):
    return struct.pack(f"<{len(flat(rows))}f", *flat(rows))


def bf16(rows):
    """Only for numbers that bf16 holds exactly."""
    return b"".join(struct.pack("<f", value)[2:] for value in flat(rows))


def tensor(rows, dim=None):
    """The entry of an f32 table for safetensors(); dim is needed where there are no rows."""
    return "F32", [len(rows), dim if dim is not None else len(rows[0])], f32(rows)


def safetensors(path, tensors):
    """tensors: name -> (dtype, shape, bytes)"""
    header, data = {}, b""
    for name, (dtype, shape, raw) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    raw_safetensors(path, json.dumps(header).encode(), data)


def raw_safetensors(path, header, data=b"", length=None):
    """A header as it stands, right or wrong, with the length that is claimed for it."""
    text = header + b" " * (-len(header) % 8)
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)


def model(folder, tensors, config=None, tokens=None):
    """A model's folder: tensors, perhaps config.json, perhaps a tokenizer.json with ids of its own ({text: id})."""
    folder = pathlib.Path(folder)
    folder.mkdir()
    safetensors(folder / "model.safetensors", tensors)
    if config is not None:
        (folder / "config.json").write_text(json.dumps(config))
    if tokens is not None:
        tokenizer(folder, tokens)
    return folder


def tokenizer(folder, tokens, added=()):
    """A tokenizer.json of whole words; added: (id, text, special) of added tokens."""
    entries = [{"id": id, "content": text, "special": special} for id, text, special in added]
    content = {"version": "1.0", "added_tokens": entries, "model": {"type": "WordLevel", "vocab": tokens}}
    (pathlib.Path(folder) / "tokenizer.json").write_text(json.dumps(content))


def words(count):
    return {f"w{id}": id for id in range(count)}


def gguf_text(text):
    raw = text.encode()
    return struct.pack("<Q", len(raw)) + raw


def gguf(path, tensors, pairs=(), alignment=32):
    """tensors: (name, dimensions in the file's order, type number, bytes); pairs: (key, type number, value's bytes)"""
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs))
    for key, kind, raw in pairs:
        out += gguf_text(key) + struct.pack("<I", kind) + raw
    data = b""
    for name, shape, kind, raw in tensors:
        out += gguf_text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, len(data))
        data += raw + bytes(-len(raw) % alignment)
    pathlib.Path(path).write_bytes(out + bytes(-len(out) % alignment) + data)


def trained(rows, dim, seed=1):
    """Rows in directions of their own, of lengths spread as those of trained tables are."""
    noise = random.Random(seed)
    out = []
    for _ in range(rows):
        scale = 0.15 + 0.5 * noise.random()
        out.append([scale * noise.gauss(0, 1) for _ in range(dim)])
    return out
