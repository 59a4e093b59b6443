"""The targets: what each operation is compared with, and the ratio that is asked for.

A ratio is the other's time over ours. Where a target was set in milliseconds beside a peer's, the goal is the quotient of the
two. "At most 1.05 times" is a goal of 1 / 1.05.
"""
from collections import namedtuple

# piece: which script measures it. peers: beginnings of names; of those that match the fastest counts.
Goal = namedtuple("Goal", "piece operation peers ratio asked")

FASTEST = ("FBGEMM", "ggml", "oneDNN", "onnxruntime", "OpenBLAS", "NumKong", "PyTorch", "NumPy")


def at_most(times):
    return 1 / times


def rows():
    for shape in ("16K", "3K"):
        wide = shape == "16K"
        for law in ("", " zipf"):
            yield Goal("rows", f"rows f32 {shape}{law}", ("FBGEMM",), 1, "no slower than FBGEMM at its best")
            yield Goal("rows", f"rows f32 {shape}{law}", ("limit",), 0.95, "0.95 of the best copy loop")
        for kind in ("f16", "bf16"):
            asked = "1.3x FBGEMM" if wide else "1.05x FBGEMM"
            yield Goal("rows", f"rows {kind} {shape}", ("FBGEMM f16",), 1.3 if wide else 1.05, asked)
        yield Goal("rows", f"rows bf16 {shape}", ("wte f16",), 1, "as fast as f16")
        for kind in ("int8", "int4"):
            asked = "1.3x FBGEMM" if wide else "no slower than FBGEMM"
            yield Goal("rows", f"rows {kind} {shape}", ("FBGEMM",), 1.3 if wide else 1, asked)
        for kind, ratio in {"q8_0": 1.4, "q4_0": 1.6, "q4_k": 1.3, "q6_k": 4}.items():
            yield Goal("rows", f"rows {kind} {shape}", ("ggml native",), ratio, f"{ratio}x ggml built for this machine")
            yield Goal("rows", f"rows {kind} {shape}", (f"ggml {kind}",), ratio, f"{ratio}x ggml as its package ships")


def bags():
    for law in ("uniform", "zipf"):
        for kind in ("f32", "f16", "int8", "int4"):
            operation = f"bags {kind} {law} sum"
            yield Goal("bags", operation, ("FBGEMM",), 1, "no slower than FBGEMM at its best")
            yield Goal("bags", operation, ("FBGEMM sum, 16 ahead",), 1.1, "1.1x FBGEMM as PyTorch calls it")
        yield Goal("bags", f"bags bf16 {law} sum", ("wte f16",), at_most(1.1), "within 10 % of f16")
        for kind in ("f32", "f16", "bf16", "int8", "int4"):
            for mode, times in {"mean": 1.05, "weighted": 1.05, "max": 1.15}.items():
                asked = f"within {round(100 * times - 100)} % of sum"
                yield Goal("bags", f"bags {kind} {law} {mode}", ("wte sum",), at_most(times), asked)
        yield Goal("bags", f"bags f32 {law} max", ("PyTorch",), 1, "no slower than PyTorch")


def head():
    one = {"f32": ("exact", FASTEST, 1), "bf16": ("fast", FASTEST, 1), "q8_0": ("fast", FASTEST, 1)}
    one |= {"q6_k": ("fast", FASTEST, 1), "q4_0": ("fast", ("ggml repacked",), 1.15)}
    one |= {"q4_k": ("fast", ("ggml repacked",), 1.15)}
    for kind, (precision, peers, ratio) in one.items():
        asked = "no slower than the best peer" if ratio == 1 else f"{ratio}x ggml repacked"
        yield Goal("head", f"head {kind} n=1 {precision}", peers, ratio, asked)
    for kind in ("q8_0", "q4_0", "q4_k", "q6_k"):
        yield Goal("head", f"head {kind} n=1 exact", ("wte fast",), at_most(2), "exact within 2x of fast")
    yield Goal("head", "head f32 n=8 exact", ("oneDNN packed",), 7.4 / 6.5, "6.5 ms where oneDNN packed has 7.4")
    yield Goal("head", "head bf16 n=8 fast", ("FBGEMM",), 3.6 / 3.2, "3.2 ms where FBGEMM's f16 has 3.6")
    yield Goal("head", "head bf16 n=8 fast", ("oneDNN packed",), 4.1 / 3.2, "3.2 ms where oneDNN packed has 4.1")
    yield Goal("head", "head q8_0 n=8 fast", ("onnxruntime",), 3.9 / 2.6, "2.6 ms where onnxruntime has 3.9")
    yield Goal("head", "head q4_0 n=8 fast", ("ggml repacked",), 3.2 / 2.6, "2.6 ms where ggml repacked has 3.2")
    yield Goal("head", "head q4_k n=8 fast", ("ggml repacked",), 7.4 / 2.6, "2.6 ms where ggml repacked has 7.4")
    for kind, precision in {"f32": "exact", "bf16": "fast"}.items():
        yield Goal("head", f"head {kind} n=512 {precision}", ("oneDNN packed",), 1, "no slower than oneDNN packed")
    for kind in ("q8_0", "q4_0", "q4_k", "q6_k"):
        yield Goal("head", f"head {kind} n=512 fast", ("wte bf16 fast",), at_most(1.1), "within 1.1x of our bf16")
    for n in (1, 512):
        yield Goal("head", f"top 50 f32 n={n}", ("wte product",), at_most(1.03), "at most 1.03x the product alone")


def loss():
    yield Goal("loss", "loss", ("wte product",), at_most(1.05), "at most 1.05x the product alone")
    yield Goal("loss", "loss", ("PyTorch",), 1, "no slower than PyTorch")
    yield Goal("loss", "loss and gradients", ("wte product",), at_most(3.3), "at most 3.3x the product alone")
    yield Goal("loss", "loss and gradients", ("PyTorch",), 1, "no slower than PyTorch")
    for count in (50257, 262144):
        for more in ("", " with gradients"):
            yield Goal("loss", f"loss memory{more} {count} rows", ("limit",), 1, "at most 64 MiB of work memory")


def train():
    for law in ("uniform", "zipf"):
        yield Goal("train", f"train scatter {law}", ("PyTorch",), 1.2, "1.2x PyTorch's index_add_")
        yield Goal("train", f"train sparse gradient {law}", ("PyTorch",), 1.2, "1.2x PyTorch's coalesce")
        yield Goal("train", f"train SGD step {law}", ("PyTorch",), 1.2, "1.2x PyTorch's SGD")
        for kind in ("row-wise Adagrad", "Adagrad"):
            yield Goal("train", f"train {kind} step {law}", ("FBGEMM",), at_most(1.1), "at most 1.1x FBGEMM, which merges nothing")
        yield Goal("train", f"train lazy Adam step {law}", ("PyTorch",), 5, "5x PyTorch's SparseAdam")
        yield Goal("train", f"train Adam step {law}", ("PyTorch",), 2.5, "2.5x PyTorch's SparseAdam, which is lazy")
        yield Goal("train", f"train bag step {law}", ("FBGEMM",), 1.3, "1.3x FBGEMM")


def words():
    for way in ("skip-gram", "cbow", "skip-gram n-grams", "cbow n-grams"):
        for peer in ("fastText", "gensim"):
            yield Goal("words", f"words {way}", (peer,), 1.5, f"1.5x {peer}")
            for file in ("wordsim353", "simlex999", "questions-words"):
                yield Goal("words", f"words {way} quality {file}", (peer,), 1, f"no lower than {peer}")


def all_goals():
    return [*rows(), *bags(), *head(), *loss(), *train(), *words()]


# Operations whose share of the limit on two threads shall be that of one thread.
SHARES = [f"rows f32 {shape}" for shape in ("16K", "3K")]
SHARES += [f"head {kind} n=1 {how}" for kind, how in {"f32": "exact", "bf16": "fast", "q8_0": "fast"}.items()]
SHARES += [f"head {kind} n=1 fast" for kind in ("q4_0", "q4_k", "q6_k")]
