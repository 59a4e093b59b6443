"""Random tables and bags of ids, and the loop over them, for comparisons with a live PyTorch."""
import random
import sys

import oracle_wte as wte

MODES = ["sum", "mean", "max"]
SHAPES = [(1, 1), (7, 3), (50, 64), (300, 33), (1000, 128), (40, 300)]


class Bags:
    """A random table and random ids of its rows, in bags of which the longest have `longest`.

    Bag b has ids[offsets[b]] to ids[offsets[b + 1] - 1].
    """

    def __init__(self, torch, noise, modes, longest):
        self.torch = torch
        self.mode = noise.choice(modes)
        rows, dim = noise.choice(SHAPES)
        self.table = torch.randn(rows, dim) * noise.choice([0.01, 1, 100])
        self.kind = noise.choice([torch.int64, torch.int32])
        lengths = [noise.choice([0, 1, 2, 5, 40, longest]) for _ in range(noise.randrange(1, 40))]
        self.offsets = torch.tensor([0] + lengths).cumsum(0).to(self.kind)
        self.ids = torch.randint(0, rows, (sum(lengths),), dtype=self.kind)

    def some_weights(self, noise):
        """Of sums, half of the time; else None."""
        return self.torch.randn(self.ids.shape) if self.mode == "sum" and noise.random() < 0.5 else None

    def rows(self):
        rows, cols = self.table.shape
        return wte.Rows(rows=rows, cols=cols, dtype=wte.F32, data=self.table.data_ptr(), row_bytes=cols * 4)

    def numbers(self, tensor):
        """ids or offsets; None: none."""
        kind = wte.I64 if self.kind == self.torch.int64 else wte.I32
        if tensor is None:
            return wte.Ids(type=kind)
        return wte.Ids(data=tensor.data_ptr(), type=kind, count=tensor.numel())


def compare(what, cases, case_of, differs):
    """`differs` of so many cases, without a pool and with one; the exit code of the program."""
    try:
        import torch
    except ImportError as missing:
        print(f"skipped: {sys.executable} has no PyTorch ({missing})")
        return wte.SKIPPED
    torch.manual_seed(20)
    noise = random.Random(20)
    library = wte.Library(sys.argv[1])
    pools = [None, library.pool(2)]
    wrong = 0
    for number in range(cases):
        case = case_of(torch, noise)
        problem = differs(case, library, pools[number % 2])
        if problem:
            wrong += 1
            print(f"DIFFERENT {number}: {case}: {problem}")
    print(f"{cases} {what}, {wrong} differ from PyTorch {torch.__version__}")
    return 1 if wrong else 0
