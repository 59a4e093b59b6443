#!/usr/bin/env python3
"""Run one command-line test, or accept what it prints.

usage: run.py --wte PROGRAM [--accept] CASE.sh...

CASE.sh is run by sh in a fresh folder, with `wte` in PATH, DATA = tests/data and a fixed environment. What it prints and
its exit code must equal CASE.stdout, CASE.stderr and CASE.exit beside it (absent = empty, empty, 0). Where a line cannot
be known beforehand, the expected line holds `[...]`, which stands for any characters of that line, or is `...` alone,
which stands for any number of lines. --accept rewrites the three files; lines with such patterns are kept where they
still fit. Exit code 77 of a case means that it cannot run here; run.py then exits 77 too.
"""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
SECONDS = 280  # a hang, on however busy a machine
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def environment(wte, scratch):
    bin_folder = scratch / "bin"
    bin_folder.mkdir()
    (bin_folder / "wte").symlink_to(pathlib.Path(wte).resolve())
    keep = {k: v for k, v in os.environ.items() if k.startswith(("ASAN_", "UBSAN_", "TSAN_", "LSAN_", "LD_"))}
    return keep | {
        "PATH": f"{bin_folder}:{os.environ.get('PATH', '/usr/bin:/bin')}",
        "DATA": str(DATA),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "XDG_CACHE_HOME": str(scratch / "cache"),
        "LC_ALL": "C.UTF-8",
        "TERM": "dumb",
    }


def run_case(case, wte):
    """Exit code, stdout and stderr of the case, with the two folders' names put back as variables."""
    with tempfile.TemporaryDirectory(prefix="wte-case-") as name:
        scratch = pathlib.Path(name).resolve()
        env = environment(wte, scratch)
        work = scratch / "work"
        work.mkdir()
        done = subprocess.run(["sh", "-u", str(case.resolve())], cwd=work, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=SECONDS, check=False)
        out = {}
        for stream, raw in (("stdout", done.stdout), ("stderr", done.stderr)):
            text = raw.decode("utf-8", "backslashreplace")
            out[stream] = text.replace(str(DATA), "$DATA").replace(str(work), "$PWD")
        return done.returncode, out["stdout"], out["stderr"]


def fits(pattern, text):
    """Whether text fits the expected lines."""
    parts = []
    for line in pattern.splitlines(keepends=True):
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*")
        else:
            parts.append(".*".join(re.escape(piece) for piece in line.split("[...]")))
    return re.fullmatch("".join(parts), text) is not None


def read(path):
    return path.read_text(encoding="utf-8") if path.exists() else ""


def expected(case):
    code = read(case.with_suffix(".exit")).strip()
    return int(code or 0), read(case.with_suffix(".stdout")), read(case.with_suffix(".stderr"))


def write(path, text):
    if text:
        path.write_text(text, encoding="utf-8")
    elif path.exists():
        path.unlink()


def accept(case, got):
    want = expected(case)
    code, *texts = got
    write(case.with_suffix(".exit"), f"{code}\n" if code else "")
    for name, old, new in zip((".stdout", ".stderr"), want[1:], texts):
        if not fits(old, new):
            write(case.with_suffix(name), new)


def show_difference(name, want, got):
    lines = difflib.unified_diff(want.splitlines(), got.splitlines(), f"expected {name}", f"printed {name}", lineterm="")
    print("\n".join(lines))


def check(case, got):
    """Print what differs; True when nothing does."""
    want = expected(case)
    good = want[0] == got[0]
    if not good:
        print(f"{case.name}: exit code {got[0]}, expected {want[0]}")
    for name, old, new in zip(("stdout", "stderr"), want[1:], got[1:]):
        if not fits(old, new):
            good = False
            show_difference(name, old, new)
    return good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wte", required=True)
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("cases", nargs="+", type=pathlib.Path)
    args = parser.parse_args()
    if not shutil.which("sh"):
        sys.exit(SKIPPED)
    results = set()
    for case in args.cases:
        got = run_case(case, args.wte)
        if got[0] == SKIPPED:
            print(f"{case.name}: skipped: {got[1].strip() or got[2].strip()}")
            results.add(SKIPPED)
        elif args.accept:
            accept(case, got)
        else:
            results.add(0 if check(case, got) else 1)
    sys.exit(1 if 1 in results else SKIPPED if results == {SKIPPED} else 0)


main()
