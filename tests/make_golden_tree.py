#!/usr/bin/env python3
"""Write tests/data/train/fasttext_tree.txt: the trees of hierarchical softmax that fastText makes of counts.

usage: make_golden_tree.py      (with Debian's python3-fasttext 0.9.2)

fastText tells nobody its tree, but can be asked. A model is written whose labels have the counts, with the row e_j of the other
table for inner node j, and words w_j whose vectors are 30 e_j, and z whose vector is 0. Asked about z, each step to a label has
the probability 1/2. Asked about w_j instead, the steps to the right of node j have 1, those to the left 0.

A line of counts, then a line for each of them: its steps from the root on, a node and l or r.
"""
import pathlib
import struct
import sys
import tempfile

import fasttext

OUT = pathlib.Path(__file__).resolve().parent / "data/train/fasttext_tree.txt"
COUNTS = [
    [45, 16, 13, 12, 9, 5],
    [7] * 13,
    [8, 4, 2, 1, 1, 1, 1, 1, 1, 1],
    [900, 600, 600, 300, 300, 300, 300, 300, 300, 300, 12, 12, 3, 3, 3, 3],
    [2, 1],
]
ARGUMENTS = {"ws": 5, "epoch": 1, "minCount": 1, "neg": 5, "wordNgrams": 1, "loss": 1, "model": 3, "bucket": 0}


def model_of(counts, path):
    dim = len(counts) - 1
    words = [f"w{j}" for j in range(dim)] + ["z"]
    data = struct.pack("<Ii12id", 793712314, 12, dim, *ARGUMENTS.values(), 0, 0, 100, 1e-4)
    data += struct.pack("<iiiqq", len(words) + len(counts), len(words), len(counts), 99, -1)
    data += b"".join(word.encode() + b"\0" + struct.pack("<qb", 1, 0) for word in words)
    data += b"".join(f"__label__{i}".encode() + b"\0" + struct.pack("<qb", n, 1) for i, n in enumerate(counts))
    for rows, of_row in ((len(words), lambda j: 30), (len(counts), lambda j: 1)):
        table = [of_row(j) if j == c else 0 for j in range(rows) for c in range(dim)]
        data += b"\0" + struct.pack("<qq", rows, dim) + struct.pack(f"<{len(table)}f", *table)
    path.write_bytes(data)
    return fasttext.load_model(str(path))


def asked(model, word, count):
    """What each label has; all are listed, since a threshold below 0 is no number to fastText."""
    labels, shares = model.predict(word, k=count, threshold=-1)
    assert len(labels) == count
    return [dict(zip(labels, shares))[f"__label__{i}"] for i in range(count)]


def ways(counts, path):
    model, n = model_of(counts, path), len(counts)
    plain = asked(model, "z", n)
    found = [[] for _ in counts]
    for node in reversed(range(n - 1)):  # a node is made after those below it
        for i, share in enumerate(asked(model, f"w{node}", n)):
            ratio = share / plain[i]
            if ratio > 1.5:
                found[i].append(f"{node}r")
            elif ratio < 0.5:
                found[i].append(f"{node}l")
    return found


def main():
    fasttext.FastText.eprint = lambda *_: None
    with tempfile.TemporaryDirectory() as scratch, open(OUT, "w") as out:
        for counts in COUNTS:
            print("counts", *counts, file=out)
            for way in ways(counts, pathlib.Path(scratch) / "model.bin"):
                print("way", *way, file=out)


if __name__ == "__main__":
    sys.exit(main())
