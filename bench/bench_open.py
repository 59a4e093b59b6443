#!/usr/bin/env python3
"""How long `wte lookup FILE 0 1 2` takes from start to end, and how much memory it has at its peak.

usage: bench_open.py WTE [FOLDER]      WTE: the program; FOLDER: where files of up to 1 GB are made and removed
                                       (default: a temporary one)

Runs over the models that scripts/fetch-models has fetched and over a large file of each format, made here: most of
them have holes in place of their numbers, so that they are large and cost no disk. Prints a JSON line for each: median
of WTE_BENCH_ROUNDS (21) runs in milliseconds, the fastest, the processor time, and the largest resident set (which
cannot be told below this program's own, some 15 MiB). A text is read as a whole the first time: that pass has a line of
its own, with MB/s; then its index is used. torch's file is left out when PyTorch is absent.
"""
import json
import os
import pathlib
import random
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROUNDS = max(1, int(os.environ.get("WTE_BENCH_ROUNDS", "21")))


def hole(file, size):
    """The file ends `size` bytes after what is written."""
    file.flush()
    file.truncate(file.tell() + size)


def write_safetensors(path):
    rows, dim = 256000, 3072
    size = 4 * rows * dim
    header = {"wte.weight": {"dtype": "F32", "shape": [rows, dim], "data_offsets": [0, size]}}
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        hole(file, size)


def write_npy(path):
    rows, dim = 1000000, 300
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {dim}), }}".encode()
    text += b" " * (-(len(text) + 11) % 64) + b"\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
        hole(file, 4 * rows * dim)


def write_gguf(path):
    rows, dim = 262144, 2048
    def string(text):
        return struct.pack("<Q", len(text)) + text
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + string(b"general.architecture") + struct.pack("<I", 8)
    head += string(b"llama") + string(b"token_embd.weight") + struct.pack("<IQQIQ", 2, dim, rows, 1, 0)
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32))
        hole(file, 2 * rows * dim)


def write_fasttext(path):
    words, buckets, dim = 50000, 2000000, 300
    head = struct.pack("<2i12id", 793712314, 12, dim, 5, 5, 5, 5, 1, 2, 2, buckets, 3, 6, 100, 1e-4)
    head += struct.pack("<3iqq", words, words, 0, 1000000, -1)
    head += b"".join(b"word%d\0" % i + struct.pack("<qb", 9, 0) for i in range(words))
    with open(path, "wb") as file:
        file.write(head + struct.pack("<Bqq", 0, words + buckets, dim))
        hole(file, 4 * (words + buckets) * dim)
        file.seek(0, os.SEEK_END)
        file.write(struct.pack("<Bqq", 0, words, dim))
        hole(file, 4 * words * dim)


def write_word2vec(path):
    words, dim = 400000, 300
    row = struct.pack(f"<{dim}f", *(i / dim for i in range(dim)))
    with open(path, "wb") as file:
        file.write(b"%d %d\n" % (words, dim))
        for i in range(words):
            file.write(b"word%d " % i + row + b"\n")


def write_glove(path):
    words, dim = 400000, 300
    dice = random.Random(1)
    numbers = [f"{dice.uniform(-1, 1):.5f}" for _ in range(5000)]
    lines = [" ".join(dice.choices(numbers, k=dim)) for _ in range(500)]
    with open(path, "w", encoding="ascii") as file:
        for i in range(words):
            file.write(f"word{i} {lines[i % len(lines)]}\n")


def write_torch(path):
    code = "import sys, torch; torch.save({'wte.weight': torch.zeros(131072, 2048)}, sys.argv[1])"
    python = "/usr/bin/python3" if os.access("/usr/bin/python3", os.X_OK) else sys.executable
    if subprocess.run([python, "-c", code, path], stderr=subprocess.DEVNULL, check=False).returncode:
        raise LookupError("PyTorch is absent")


MADE = {
    "safetensors, 3.1 GB": ("table.safetensors", write_safetensors, False),
    "npy, 1.2 GB": ("table.npy", write_npy, False),
    "gguf, 1.1 GB": ("table.gguf", write_gguf, False),
    "torch zip, 1.1 GB": ("table.pt", write_torch, False),
    "fasttext, 2.5 GB": ("table.bin", write_fasttext, False),
    "word2vec binary, 0.5 GB": ("vectors.bin", write_word2vec, True),
    "glove text, 1.0 GB": ("vectors.txt", write_glove, True),
}


def run(program, path, environment):
    start = time.perf_counter()
    child = subprocess.Popen([program, "lookup", path, "0", "1", "2"], stdout=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit(f"bench_open: {path}: exit code {child.returncode}")
    return time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss


def report(case, runs, **more):
    seconds, processor, resident = zip(*runs)
    line = {"bench": "open", "case": case, "ns": round(statistics.median(seconds) * 1e9)}
    line["ms"], line["least_ms"] = (round(f(seconds) * 1e3, 1) for f in (statistics.median, min))
    line["cpu_ms"], line["mib"] = round(statistics.median(processor) * 1e3, 1), round(max(resident) / 1024, 1)
    line.update(more, runs=len(runs), commit=os.environ.get("WTE_COMMIT", "unknown"))
    print(json.dumps(line), flush=True)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__.split("\n\n")[1])
    program = sys.argv[1]
    folder = pathlib.Path(tempfile.mkdtemp(prefix="wte-bench-open.", dir=sys.argv[2] if len(sys.argv) > 2 else None))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
    try:
        for model in sorted((ROOT / ".cache/models").glob("*")):
            report(model.name, [run(program, model, environment) for _ in range(ROUNDS)])
        for case, (name, write, indexed) in MADE.items():
            path = folder / name
            try:
                write(path)
            except LookupError as why:
                print(f"bench_open: {case}: skipped: {why}", file=sys.stderr)
                continue
            first = run(program, path, environment)
            if indexed:
                report(case + ", first pass", [first], mb_s=round(path.stat().st_size / first[0] * 1e-6))
            report(case, [run(program, path, environment) for _ in range(ROUNDS)])
            path.unlink()
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
