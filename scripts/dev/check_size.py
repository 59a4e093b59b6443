#!/usr/bin/env python3
"""Fail when a file is too long, names this machine, or holds a marker of unfinished work.

usage: check_size.py

Looks at what git tracks. Functions are measured by clang-tidy (readability-function-size in .clang-tidy).
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
MAX_LINES = 600
MAX_COLUMNS = 160  # .c and .h files: 100, kept by clang-format
CODE = {".c", ".h", ".py", ".sh", ".cmake", ".def", ""}
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]) + r")\b")
# Places that exist on one machine only; /tmp and /usr are everybody's.
PLACES = re.compile(r"(?<![\w.])/(?:" + "|".join(["home", "root", "Users", "work"]) + r")/\w|file:/" + "//")
PRINTED = {".stdout", ".stderr"}  # what a program printed, blanks and all
DATA = ("tests/data/", "fuzz/corpus/", "examples/data/")


def tracked():
    out = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in out.decode().split("\0"):
        if name and not name.startswith(DATA) and (ROOT / name).is_file():
            yield name


def faults(name):
    try:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        yield f"{name}:1: not UTF-8 text, and outside {', '.join(DATA)}"
        return
    if pathlib.Path(name).suffix in CODE and name not in ("LICENSE",) and len(lines) > MAX_LINES:
        yield f"{name}:{len(lines)}: {len(lines)} lines, at most {MAX_LINES} are allowed"
    for number, line in enumerate(lines, 1):
        if UNFINISHED.search(line):
            yield f"{name}:{number}: marker of unfinished work: {line.strip()[:60]}"
        if PLACES.search(line):
            yield f"{name}:{number}: path of one machine: {line.strip()[:60]}"
        if line != line.rstrip() and pathlib.Path(name).suffix not in PRINTED:
            yield f"{name}:{number}: blanks at the end of the line"
        if pathlib.Path(name).suffix in CODE and len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns, at most {MAX_COLUMNS} are allowed"


def main():
    bad = [fault for name in tracked() for fault in faults(name)]
    print("\n".join(bad) or "sizes: ok")
    sys.exit(bool(bad))


main()
