"""Checkpoints as PyTorch writes them, without PyTorch: a pickle that names its functions, and the storages beside it.

A case runs `PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - <<END` and imports this beside files.py.
"""
import collections
import io
import pathlib
import pickle
import struct
import sys
import types
import zipfile


def named(module, name, kind):
    """A class or function that pickles as module.name, though there is no such module."""
    for k in range(1, module.count(".") + 2):
        sys.modules.setdefault(".".join(module.split(".")[:k]), types.ModuleType(module))
    made = type(name, (), {"__module__": module}) if kind is type else types.FunctionType((lambda *a: None).__code__, {}, name)
    made.__module__, made.__qualname__ = module, name
    setattr(sys.modules[module], name, made)
    return made


REBUILD = named("torch._utils", "_rebuild_tensor_v2", None)


class Tensor:
    def __init__(self, rows, storage="FloatStorage", code="f", rebuild=REBUILD, more=(False, collections.OrderedDict())):
        one = not isinstance(rows[0], (list, tuple))
        flat = list(rows) if one else [value for row in rows for value in row]
        self.shape = (len(rows),) if one else (len(rows), len(rows[0]))
        self.raw, self.n, self.kind = struct.pack(f"<{len(flat)}{code}", *flat), len(flat), storage
        self.rebuild, self.more = rebuild, more

    def __reduce__(self):
        stride = (1,) if len(self.shape) == 1 else (self.shape[1], 1)
        return self.rebuild, (Storage(self), 0, self.shape, stride, *self.more)


class Storage:
    def __init__(self, tensor):
        self.tensor = tensor


class Pickler(pickle.Pickler):
    def __init__(self, out, storages):
        super().__init__(out, 2)
        self.storages = storages

    def persistent_id(self, value):
        if not isinstance(value, Storage):
            return None
        self.storages.append(value.tensor.raw)
        cls = named("torch", value.tensor.kind, type)
        return "storage", cls, str(len(self.storages) - 1), "cpu", value.tensor.n


def torch(path, value):
    """torch.save(value, path)"""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    out, storages = io.BytesIO(), []
    Pickler(out, storages).dump(value)
    with zipfile.ZipFile(path, "w") as z:
        z.writestr("archive/data.pkl", out.getvalue())
        for k, raw in enumerate(storages):
            z.writestr(f"archive/data/{k}", raw)
