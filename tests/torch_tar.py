"""PyTorch's oldest container, in tar, which PyTorch reads but no longer writes.

Its members are told in src/format/torch_tar.c. oracle_torch_files.py shows that PyTorch loads what is made here.
"""
import io
import pickle
import struct
import tarfile

import torch


def tensor_class(tensor):
    return "torch " + tensor.type().split(".")[-1]


class TarPickler(pickle._Pickler):
    """Tensors become keys, as in PyTorch before 0.1.10."""

    def __init__(self, file, keys):
        super().__init__(file, 2)
        self.keys = keys

    def persistent_id(self, obj):
        return self.keys(obj) if isinstance(obj, torch.Tensor) else None


def dump_class(text):
    """Bytes of GLOBAL for 'module name'."""
    return b"c" + text.replace(" ", "\n").encode() + b"\n"


def text_op(text):
    return b"X" + struct.pack("<I", len(text)) + text.encode()


def old_tar(state):
    """Bytes of a checkpoint of tensors by name."""
    storages, tensors, keys = {}, [], {}

    def key_of(tensor):
        if id(tensor) not in keys:
            keys[id(tensor)] = len(keys) + 1
            tensors.append(tensor)
            storages.setdefault(tensor.storage().data_ptr() if tensor.storage().size() else -id(tensor), tensor.storage())
        return keys[id(tensor)]

    out = io.BytesIO()
    TarPickler(out, key_of).dump(state)
    storage_key = {p: f"s{i}" for i, p in enumerate(storages)}
    blob = pickle.dumps(len(storages), 2)
    for p, s in storages.items():
        kind = "torch " + type(s).__name__ if type(s).__name__ != "TypedStorage" else "torch " + s.pickle_storage_type()
        blob += b"\x80\x02" + text_op(storage_key[p]) + text_op("cpu") + dump_class(kind) + b"\x87."
        flat = torch.tensor([], dtype=s.dtype).set_(s)
        raw = flat.view(torch.uint8) if flat.dtype != torch.bool else flat.to(torch.uint8)
        blob += struct.pack("<q", s.size()) + bytes(raw.tolist() if s.size() else [])
    blob += pickle.dumps([], 2)
    shapes = pickle.dumps(len(tensors), 2)
    for t in tensors:
        p = t.storage().data_ptr() if t.storage().size() else -id(t)
        shapes += b"\x80\x02" + b"K" + bytes([keys[id(t)]]) + text_op(storage_key[p]) + dump_class(tensor_class(t)) + b"\x87."
        shapes += struct.pack("<i4x", t.dim())
        shapes += struct.pack(f"<{2 * t.dim() + 1}q", *t.shape, *t.stride(), t.storage_offset())
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, data in [("sys_info", b""), ("storages", blob), ("tensors", shapes), ("pickle", out.getvalue())]:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return file.getvalue()
