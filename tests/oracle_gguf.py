#!/usr/bin/env python3
"""Compare our GGUF reader and writer with the format's own Python package (gguf of PyPI).

usage: oracle_gguf.py LIBRARY

Exit 77 when the package or NumPy is not there. What must hold, over random files:
- a file that the package writes, in either byte order, is read with the same names, types, shapes and bytes;
- a file that we write is read by the package with the same metadata, names, types, shapes and bytes, and numbers
  that become q8_0 become the package's bytes.
"""
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED  # noqa: E402

try:
    import gguf
    import numpy as np
    from gguf import GGMLQuantizationType as Type
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)
from oracle_files import Files  # noqa: E402

SEED = 20240609
# the package's type -> (NumPy's code, number of our dtype)
PLAIN = {Type.F32: ("f4", 2), Type.F16: ("f2", 3), Type.F64: ("f8", 1), Type.I8: ("i1", 7), Type.I16: ("i2", 9), Type.I32: ("i4", 11),
         Type.I64: ("i8", 13)}  # fmt: skip
CODED = [Type.Q4_0, Type.Q4_1, Type.Q5_0, Type.Q5_1, Type.Q8_0, Type.TQ1_0, Type.TQ2_0]


def random_shape(rng, multiple):
    shape = [rng.choice([1, 2, 3, 5]) for _ in range(rng.randrange(0, 4))]
    return (*shape, multiple * rng.choice([1, 2, 3]))


def random_values(rng, shape):
    spread = 10.0 ** rng.randrange(-6, 4)
    return np.random.default_rng(rng.randrange(1 << 30)).normal(0, spread, shape).astype("f4")


def random_tensors(rng, coded):
    """[(name, type, array of bytes or numbers, shape in elements)]"""
    found = []
    for i in range(rng.randrange(1, 6)):
        kind = rng.choice(list(PLAIN) + coded)
        if kind in PLAIN:
            shape = random_shape(rng, rng.choice([1, 7]))
            raw = rng.randbytes(int(np.prod(shape)) * np.dtype(PLAIN[kind][0]).itemsize)
            data = np.frombuffer(raw, PLAIN[kind][0]).reshape(shape)
        else:
            shape = random_shape(rng, 256)
            data = gguf.quants.quantize(random_values(rng, shape), kind)
        found.append((f"blk.{i}.{rng.randrange(10**6)}.weight", kind, data, shape))
    return found


def write_theirs(path, tensors, rng, big):
    alignment = rng.choice([32, 8, 64, 4096])
    made = gguf.GGUFWriter(str(path), "llama", endianess=gguf.GGUFEndian.BIG if big else gguf.GGUFEndian.LITTLE)
    made.add_custom_alignment(alignment)
    made.add_string("text", "x" * rng.randrange(100))
    made.add_array("list", [rng.randrange(1000) for _ in range(rng.randrange(1, 9))])
    for name, kind, data, _ in tensors:
        made.add_tensor(name, data, raw_dtype=None if kind in PLAIN else kind)
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()


def check_theirs(ours, path, rng, where):
    big = rng.random() < 0.3
    tensors = random_tensors(rng, [] if big else CODED)
    write_theirs(path, tensors, rng, big)
    got = ours.read(path.read_bytes())
    assert not isinstance(got, str), f"{where}: refused: {got}"
    assert len(got) == len(tensors), where
    for (name, tensor, content), (want, kind, data, shape) in zip(got, tensors):
        assert name.decode() == want, where
        assert tuple(tensor.shape[: tensor.rank]) == shape, f"{where}: {want}"
        assert (tensor.dtype, tensor.block) == ((PLAIN[kind][1], 0) if kind in PLAIN else (0, int(kind))), f"{where}: {want}"
        swapped = data.astype(data.dtype.newbyteorder(">")) if big else data
        assert content == swapped.tobytes(), f"{where}: {want}"


def check_ours(ours, path, rng, where):
    """All that our writer takes: types without blocks, bf16 by its bits, and q8_0."""
    given, want = [], []
    for i in range(rng.randrange(1, 6)):
        name = f"blk.{i}.weight"
        if rng.random() < 0.5:
            shape = random_shape(rng, 32)
            values = random_values(rng, shape)
            given.append((name.encode(), 2, shape, values.tobytes(), int(Type.Q8_0)))
            want.append((name, Type.Q8_0, shape, gguf.quants.quantize(values, Type.Q8_0).tobytes()))
            continue
        kind = rng.choice([*PLAIN, Type.BF16])
        code, number = PLAIN.get(kind, ("u2", 4))
        shape = random_shape(rng, rng.choice([1, 7]))
        raw = rng.randbytes(int(np.prod(shape)) * np.dtype(code).itemsize)
        given.append((name.encode(), number, shape, raw, 0))
        want.append((name, kind, shape, raw))
    note = "n" * rng.randrange(50)
    ours.write_gguf(str(path), given, {"wte.note": note}, rng.choice([0, 8, 64]))
    read = gguf.GGUFReader(str(path))
    assert bytes(read.fields["general.architecture"].parts[-1]) == b"llama", where
    assert bytes(read.fields["wte.note"].parts[-1]).decode() == note, where
    assert len(read.tensors) == len(want), where
    for tensor, (name, kind, shape, raw) in zip(read.tensors, want):
        assert (tensor.name, tensor.tensor_type) == (name, kind), where
        assert tuple(int(n) for n in reversed(tensor.shape)) == shape, f"{where}: {name}"
        assert tensor.data.tobytes() == raw, f"{where}: {name} ({kind.name})"


def main():
    ours, rng = Files(sys.argv[1]), random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "t.gguf"
        for i in range(300):
            check_theirs(ours, path, rng, f"seed {SEED}, file {i} of the package")
            check_ours(ours, path, rng, f"seed {SEED}, file {i} of ours")
    print("gguf: 300 files of the package and 300 of ours read alike")


main()
