# Settings, enumerations, times and NumPy arrays beside tensors are passed over; tensors in objects are not lost silently.
. "$DATA/../cli/lib.sh"
exec 2>&1
PYTHONPATH="$DATA/../cli/pains:$DATA/../cli/parts" python3 -B - << 'END'
import argparse
import datetime
import io
import uuid

from torch_files import *

weight = lambda: Tensor([[1, 2], [3, 4], [5, 6]])
state = lambda: {"model.wte.weight": weight()}


def made(module, name, state=None, base=object):
    """An object of a class that pickles by name."""
    cls = named(module, name, type)
    thing = cls.__new__(cls)
    thing.__dict__.update(state or {})
    return thing


class Called:
    """Pickles as a call of a class or function."""

    def __init__(self, module, name, kind, *arguments):
        self.call = named(module, name, kind), arguments

    def __reduce__(self):
        return self.call


dtype = lambda: Called("numpy", "dtype", type, "f4", False, True)


class Array:
    def __reduce__(self):
        return named("numpy.core.multiarray", "_reconstruct", None), (named("numpy", "ndarray", type), (0,)), (
            1, (7, 5), dtype(), False, "x" * 140)


torch("omegaconf.pt", {"state_dict": state(), "hyper_parameters": made("omegaconf.dictconfig", "DictConfig", {
    "_metadata": made("omegaconf.base", "ContainerMetadata", {"ref_type": named("typing", "Any", type)})})})
torch("bytes.pt", {"model": {**state(), "_extra_state": io.BytesIO(b"fp8")}})
torch("args.pt", {"args": argparse.Namespace(when=datetime.timedelta(1), at=datetime.datetime(2026, 1, 1), id=uuid.UUID(int=5),
                                             kind=Called("megatron.core.enums", "ModelType", type, 1)), "model": state()})
torch("config.pt", {"config": made("my.settings", "Config", {"d": 4}), "model": state()})
torch("arrays.pt", {**state(), "emb": Array()})
torch("numpy.pt", {"vocab": {"the": 0}, "emb": Array()})
torch("net.pt", {"model": made("models.yolo", "Model", {"layer": made("torch.nn", "Linear", {"weight": weight()})}), "ema": None})
torch("called.pt", {"model": state(), "run": Called("os", "popen", None, "id")})
torch("quant.pt", {"emb.weight": Tensor([[1, 2]], "QInt8Storage", "b", named("torch._utils", "_rebuild_qtensor", None))})
torch("sparse.pt", {**state(), "s": Called("torch._utils", "_rebuild_sparse_tensor", None, 0, ())})
END
for file in omegaconf bytes args config arrays; do run wte lookup $file.pt 1; done
run wte inspect --all bytes.pt
run wte inspect --all arrays.pt
for file in numpy net called quant sparse; do run wte lookup $file.pt 1; done
