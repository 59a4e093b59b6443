#!/usr/bin/env python3
"""Write a few small seeds, good and bad, for every fuzz target.

usage: make_seeds.py OUTPUT_DIRECTORY [TARGET]

A target is one function below, seeds_<target>, that yields (name, bytes), each under 4 KiB; a target with
many seeds may keep them in its own module, fuzz/seeds_<target>.py, with a function of the same name.
"""
import importlib
import pathlib
import struct
import sys


def seeds_shape():
    yield "small", struct.pack("<IQQ", 2, 6, 3)
    yield "wraps", struct.pack("<IQQ", 2, 1 << 32, 1 << 32)
    yield "zero", struct.pack("<IQQQ", 3, 1 << 40, 0, 1 << 40)


def makers():
    found = {n[6:]: f for n, f in globals().items() if n.startswith("seeds_")}
    here = pathlib.Path(__file__).resolve().parent
    sys.path.insert(0, str(here))
    for path in sorted(here.glob("seeds_*.py")):
        found[path.stem[6:]] = getattr(importlib.import_module(path.stem), path.stem)
    return found


def main():
    out = pathlib.Path(sys.argv[1])
    for target, make in makers().items():
        if len(sys.argv) > 2 and target != sys.argv[2]:
            continue
        folder = out / target
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in make():
            assert len(data) <= 4096 * 4, (target, name, len(data))
            (folder / name).write_bytes(data)


main()
