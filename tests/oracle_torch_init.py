#!/usr/bin/env python3
"""wte_table_init against a live PyTorch, bit for bit.

    ATEN_CPU_CAPABILITY=KERNEL oracle_torch_init.py libwte.so KERNEL

KERNEL is what PyTorch must run with: default, avx2 or avx512. Exit 0: every table equal. 1: some differ (they are
printed). 77: no PyTorch here, or it does not run with that kernel.
"""
import re
import sys

import oracle_wte as wte

KERNELS = {"avx512": wte.TORCH_AVX2, "avx2": wte.TORCH_AVX2, "default": wte.TORCH_SCALAR}
SEEDS = [0, 1, 42, 123, 2**32 + 5, -1, 2**63 + 9, 2**64 - 1]
# every size below two blocks and a bit, by columns and by rows; ragged tails; whole blocks; several chunks of 1024
SHAPES = [(n, 1) for n in range(1, 41)] + [(1, n) for n in range(1, 41)]
SHAPES += [(3, 5), (6, 3), (4, 4), (5, 7), (16, 16), (17, 3), (33, 31), (64, 16), (128, 8), (1, 1024), (1, 1025)]
SHAPES += [(1, 1039), (1, 1040), (1, 1041), (3, 683), (341, 3), (100, 100), (257, 129), (1000, 77), (2048, 64)]


def capability(torch):
    """What PyTorch says of the kernels it chose: 'avx2', 'default', ..."""
    for line in torch.__config__.show().splitlines():
        if "CPU capability usage:" in line:
            return line.split(":")[1].strip().lower().replace("no avx", "default")
    return "unknown"


def processor_lacks(kernel):
    """PyTorch takes ATEN_CPU_CAPABILITY at its word and dies of an illegal instruction where the processor lacks it."""
    needed = {"avx2": {"avx2", "fma"}, "avx512": {"avx512f", "avx512bw", "avx512vl", "avx512dq"}}.get(kernel, set())
    try:
        with open("/proc/cpuinfo") as text:
            flags = re.search(r"^flags\s*:(.*)$", text.read(), re.M)
    except OSError:
        flags = None
    return sorted(needed - set(flags[1].split() if flags else ()))


class Comparison:
    def __init__(self, torch, library, kernel):
        self.torch, self.library, self.kind = torch, library, KERNELS[kernel]
        self.tables, self.values, self.wrong, self.last_place = 0, 0, 0, 0

    def table(self, what, expected, **options):
        """expected: the tensor PyTorch made; options: what wte is asked for."""
        dtype = {self.torch.float32: wte.F32, self.torch.float64: wte.F64}[expected.dtype]
        rows, dim = expected.shape
        options.setdefault("kind", self.kind)
        options["seed"] &= 2**64 - 1
        got = self.library.initial_values(rows, dim, dtype, **options)
        self.tables += 1
        self.values += rows * dim
        if got == expected.detach().numpy().tobytes():
            return
        values = self.torch.frombuffer(bytearray(got), dtype=expected.dtype)
        if self.old_logarithm(values, expected.detach().flatten()):
            self.last_place += 1
        else:
            self.wrong += 1
            differ = (values != expected.detach().flatten()).nonzero().flatten().tolist()
            first = differ[0] if differ else 0
            print(
                f"DIFFERENT {what} {rows} x {dim} {expected.dtype} {options}: {len(differ)} values, first {first}: "
                f"wte {float(values[first]).hex()}, torch {float(expected.flatten()[first]).hex()}"
            )

    def old_logarithm(self, values, expected):
        """PyTorch before 2 computes log(1 - u) where wte and newer ones compute log1p(-u): in f64 tables of fewer
        than 16 elements the last place may differ."""
        if int(self.torch.__version__.split(".")[0]) >= 2 or values.dtype != self.torch.float64 or values.numel() >= 16:
            return False
        unit = self.torch.nextafter(expected.abs(), self.torch.full_like(expected, float("inf"))) - expected.abs()
        return bool(((values - expected).abs() <= 2 * unit).all())

    def embedding(self, shape, seed, **more):
        self.torch.manual_seed(seed)
        module = self.torch.nn.Embedding(*shape, **more)
        padding = more.get("padding_idx")
        wanted = {} if padding is None else {"has_padding_id": 1, "padding_id": padding}
        self.table("nn.Embedding", module.weight, seed=seed, **wanted)

    def normal(self, shape, seed, mean, std, dtype):
        self.torch.manual_seed(seed)
        weight = self.torch.nn.init.normal_(self.torch.empty(*shape, dtype=dtype), mean, std)
        self.table("nn.init.normal_", weight, seed=seed, mean=mean, std=std)

    def uniform(self, shape, seed, low, high, dtype):
        self.torch.manual_seed(seed)
        weight = self.torch.empty(*shape, dtype=dtype).uniform_(low, high)
        self.table("uniform_", weight, kind=wte.UNIFORM, seed=seed, low=low, high=high)


def compare_all(torch, library, kernel):
    check = Comparison(torch, library, kernel)
    types = (torch.float32, torch.float64)
    # wte has one uniform kind, which rounds as the builds with fused additions do
    ranges = ((-0.05, 0.05), (0.0, 1.0), (-0.3, 0.7), (2.5, 1000.1)) if kernel != "default" else ()
    for shape in SHAPES:
        for seed in SEEDS:
            check.embedding(shape, seed)
            check.embedding(shape, seed, dtype=torch.float64)
        for dtype in types:
            for mean, std in ((0.0, 0.02), (0.0, 3.7), (1.5, 1.0), (-0.25, 0.1)):
                check.normal(shape, 7, mean, std, dtype)
            for low, high in ranges:
                check.uniform(shape, 11, low, high, dtype)
    for padding in (0, 3, 5):
        check.embedding((6, 3), 123, padding_idx=padding)
        check.embedding((6, 2), 123, padding_idx=padding)
    print(
        f"{kernel}: {check.tables} tables, {check.values} values, {check.wrong} tables differ "
        f"({check.last_place} of f64 in the last place only: log instead of log1p); torch {torch.__version__}"
    )
    return 1 if check.wrong else 0


def main():
    path, kernel = sys.argv[1:]
    missing = processor_lacks(kernel)
    if missing:
        print(f"skipped: this processor has no {' '.join(missing)}")
        return wte.SKIPPED
    try:
        import torch
    except ImportError as error:
        print(f"skipped: {sys.executable} has no PyTorch ({error})")
        return wte.SKIPPED
    if capability(torch) != kernel:
        print(f"skipped: PyTorch runs with '{capability(torch)}' here, not with '{kernel}'")
        return wte.SKIPPED
    return compare_all(torch, wte.Library(path), kernel)


if __name__ == "__main__":
    sys.exit(main())
