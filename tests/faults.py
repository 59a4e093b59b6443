#!/usr/bin/env python3
"""Lets the n-th call of a kind fail in each of a dozen jobs, and looks at what is made of it.

usage: faults.py --wte PROGRAM --shim SHIM.so [--most N] [--job NAME] [--kind KIND]

Kinds are those of tests/shim_fault.c: allocations, open, read, write, fsync, rename, map, thread starts and so on; each n
once alone and once with all calls after it, and short reads and writes. A run is clean when it ends in time, by no signal, and
- with the exit code, the output and the files of a run without a fault, or
- with exit code 3 or 5 and a message, having printed a beginning of that output, and with each group of files wholly old or
  wholly new, or
- with a note on stderr that a run without a fault does not give, which says what was left out.
Nothing temporary is left over. Without --most every n is tried (minutes); with it, at most N of them, evenly.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from outputs_sweep import make_inputs

KINDS = ["alloc", "open", "read", "write", "fsync", "rename", "map", "thread", "stat", "folder", "close"]
TRAIN = ["train", "text", "-o", "out", "--min-count", "1", "--epochs", "1", "--dim", "3", "-q"]
ONE = ["--deterministic", "--threads", "1"]
OUT = ["out/model.safetensors", "out/config.json", "out/vocab.txt"]
OLD = [["train", "older", "-o", "out", "--min-count", "1", "--epochs", "1", "--dim", "3", *ONE, "-q"]]
# name: (commands that come before, the job, groups of files that it writes)
# What an answer says of what it could not read.
ERRORS = re.compile(rb"Input/output error|Too many open files|Cannot allocate memory|out of memory|no memory|exit.: [35]")
JOBS = {
    "lookup": ([], ["lookup", "m", "1", "a", "7", "--json"], []),
    "lookup to a file": ([], ["lookup", "m", "1", "2", "--npy", "-o", "rows.npy"], [["rows.npy"]]),
    "logits": ([], ["logits", "m", "--hidden", "h", "--top", "3", "--threads", "2"], []),
    "loss": ([], ["loss", "m", "--hidden", "h", "--targets", "ids", "--d-hidden", "dh.npy", "--d-table", "dt.npy"],
             [["dh.npy", "dt.npy"]]),
    "near": ([], ["near", "m", "a", "--top", "3"], []),
    "check": ([], ["check", "m", "--json"], []),
    "baseline": ([["check", "m", "--write-baseline", "known"]], ["check", "m", "--write-baseline", "known"], [["known"]]),
    "inspect": ([], ["inspect", "m"], []),
    "trace": ([], ["trace", "m", "2"], []),
    "diff": ([], ["diff", "m", "m", "--json"], []),
    "tied": ([], ["tied", "m"], []),
    "text": ([], ["lookup", "v.vec", "b", "2"], []),
    "gz": ([], ["lookup", "v.vec.gz", "b", "2"], []),
    "new": ([["new", "--rows", "9", "--dim", "3", "-o", "t.npy"]], ["new", "--rows", "20", "--dim", "3", "-o", "t.npy"],
            [["t.npy"]]),
    "train": ([], [*TRAIN, *ONE], [OUT]),
    "train over": (OLD, [*TRAIN, *ONE, "--word2vec", "w.vec"], [OUT, ["w.vec"]]),
    "train lm": ([], [*TRAIN, "--method", "lm", "--threads", "1"], [OUT]),
    "gradcheck": ([], ["gradcheck", "m", "1", "3"], []),
}


class Test:
    def __init__(self, wte, shim, most):
        self.wte, self.shim, self.most, self.faults, self.runs = wte, shim, most, [], 0
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="wte-faults-")).resolve()
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.work, self.ready = self.top / "work", self.top / "ready"

    def run(self, args, **env):
        self.runs += 1
        return subprocess.run([self.wte, *args], stdin=subprocess.DEVNULL, capture_output=True, cwd=self.work,
                              env=self.env | {"XDG_CACHE_HOME": str(self.work / "cache")} | env, timeout=60, check=False)

    def prepare(self, before):
        """What a run of a job begins with, kept in `ready`."""
        shutil.rmtree(self.ready, ignore_errors=True)
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        make_inputs(self.work)
        (self.work / "older").write_text("a b c a b c d\n" * 20)
        (self.work / "v.vec").write_text("3 2\na 1 2.5\nb -1 0.25\nc 3 4\n")
        subprocess.run(["gzip", "-kn", "v.vec"], cwd=self.work, check=True)
        for args in before:
            done = self.run(args)
            assert done.returncode == 0, (args, done.stderr)
        shutil.copytree(self.work, self.ready, symlinks=True)

    def fresh(self):
        shutil.rmtree(self.work)
        shutil.copytree(self.ready, self.work, symlinks=True)

    def contents(self, groups):
        return [[(self.work / f).read_bytes() if (self.work / f).is_file() else None for f in g] for g in groups]

    def fault(self, what, why):
        self.faults.append(f"{what}: {why}")
        print(f"faults: {self.faults[-1]}", file=sys.stderr, flush=True)

    @staticmethod
    def said(done):
        """What was printed, without what the clock says."""
        return re.sub(rb"in [0-9.]+ s \([0-9]+ words/s\)", b"in SECONDS", done.stdout)

    def judge(self, what, done, plain, old, new, groups):
        note, now = done.stderr.decode("utf-8", "replace"), self.contents(groups)
        stray = [str(p) for p in self.work.rglob(".*") if p.name.endswith(".tmp") or p.name == ".wte-commit"]
        if stray:
            self.fault(what, f"left over: {stray}")
        if done.returncode < 0:
            return self.fault(what, f"signal {-done.returncode}: {note[-300:]}")
        if "%s" in note or (note and not note.endswith("\n")):
            self.fault(what, f"no whole message: {note[-300:]}")
        if done.returncode == plain.returncode:
            said = note != plain.stderr.decode() or ERRORS.search(done.stdout)
            if self.said(done) != self.said(plain) and not said:
                self.fault(what, f"exit {done.returncode}, nothing said, but printed\n{done.stdout.decode()[:400]}")
            if now != new:
                self.fault(what, f"exit {done.returncode}, but its files are others: {note[-300:]}")
            return None
        told = done.returncode == 1 and ERRORS.search(done.stdout)  # a finding of check
        if done.returncode not in (3, 5) and not told or not note.strip() and not told:
            self.fault(what, f"exit {done.returncode}: {note[-300:]}")
        for group, got, a, b in zip(groups, now, old, new):
            if got not in (a, b) and not told:
                self.fault(what, f"files are neither old nor new: {group}")
        if ": write " not in what and "note:" not in note and not self.said(plain).startswith(self.said(done)) and not ERRORS.search(done.stdout):
            self.fault(what, f"exit {done.returncode}, printed what is no beginning: {done.stdout[:200]}")
        return None

    def counted(self, total):
        if not self.most or total <= self.most:
            return range(1, total + 1)
        return sorted({1 + i * (total - 1) // (self.most - 1) for i in range(self.most)})

    def job(self, name, kinds):
        before, args, groups = JOBS[name]
        self.prepare(before)
        old = self.contents(groups)
        plain = self.run(args)
        assert plain.returncode in (0, 1), (name, plain)
        new = self.contents(groups)
        for kind in kinds:
            self.fresh()
            self.run(args, LD_PRELOAD=self.shim, SHIM_KIND=kind, SHIM_COUNT=str(self.top / "count"))
            total = int((self.top / "count").read_text())
            forms = [{}, {"SHIM_ALL": "1"}] + ([{"SHIM_SHORT": "1"}] if kind in ("read", "write") else [])
            for form in forms:
                for n in self.counted(total):
                    self.fresh()
                    what = f"{name}: {kind} {n} of {total}{''.join(' ' + f for f in form)}"
                    try:
                        done = self.run(args, LD_PRELOAD=self.shim, SHIM_KIND=kind, SHIM_AT=str(n), **form)
                    except subprocess.TimeoutExpired:
                        self.fault(what, "did not end")
                        continue
                    self.judge(what, done, plain, old, new, groups)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wte", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--most", type=int, default=0)
    parser.add_argument("--job", action="append", choices=list(JOBS))
    parser.add_argument("--kind", action="append", choices=KINDS)
    args = parser.parse_args()
    os.umask(0o022)
    test = Test(str(pathlib.Path(args.wte).resolve()), str(pathlib.Path(args.shim).resolve()), args.most)
    for name in args.job or JOBS:
        test.job(name, args.kind or KINDS)
    shutil.rmtree(test.top)
    print(f"faults: {len(args.job or JOBS)} jobs, {test.runs} runs, {len(test.faults)} faults")
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main())
