#!/usr/bin/env python3
"""Ends writers at chosen moments and looks at what is left: nothing half written, nothing left over.

usage: kill_test.py --wte PROGRAM --shim SHIM.so [--moments N] [--timed N] [--seed S]

A moment is the n-th call that changes a file or a folder (tests/shim_signal.c), n drawn for each job, so that the test does
not depend on speed; --timed adds moments of the clock. Signals: SIGINT, SIGTERM, SIGHUP, SIGXFSZ and SIGKILL. Afterwards
each group of files is wholly the old or wholly the new one. A signal that can be handled leaves no temporary file and
ends with 128 + its number (SIGXFSZ: 5); after SIGKILL the same command, run again, leaves none.
"""
import argparse
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from outputs_sweep import make_inputs

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXFSZ, signal.SIGKILL]
TRAIN = ["train", "text", "-o", "out", "--min-count", "1", "--epochs", "2", "--deterministic", "--threads", "1", "-q"]
LM = ["train", "text", "-o", "out", "--method", "lm", "--min-count", "1", "--epochs", "1", "--threads", "1", "-q"]
OUT = ["out/model.safetensors", "out/config.json", "out/vocab.txt", "out/curve.svg"]
OLD = [["train", "older", "-o", "out", "--min-count", "1", "--epochs", "1", "--dim", "3", "--deterministic",
        "--threads", "1", "-q"]]
# name: (commands that make the old files, the writer, the files that appear together)
JOBS = {
    "new": ([], ["new", "--rows", "50", "--dim", "3", "-o", "t.safetensors"], [["t.safetensors"]]),
    "new over": ([["new", "--rows", "9", "--dim", "3", "-o", "t.npy"]],
                 ["new", "--rows", "50", "--dim", "3", "-o", "t.npy"], [["t.npy"]]),
    "lookup": ([], ["lookup", "m", "1", "2", "--npy", "-o", "rows.npy"], [["rows.npy"]]),
    "logits": ([], ["logits", "m", "--hidden", "h", "-o", "logits.npy"], [["logits.npy"]]),
    "loss": ([], ["loss", "m", "--hidden", "h", "--targets", "ids", "--d-hidden", "dh.npy", "--d-table", "dt.npy"],
             [["dh.npy", "dt.npy"]]),
    "check": ([["check", "m", "--write-baseline", "known"]], ["check", "m", "--write-baseline", "known"], [["known"]]),
    "words": ([], [*TRAIN, "--dim", "4"], [OUT]),
    "words over": (OLD, [*TRAIN, "--dim", "4", "--word2vec", "w.vec", "--fasttext", "w.bin"],
                   [OUT, ["w.vec"], ["w.bin"]]),
    "words with checkpoints": (OLD, [*TRAIN, "--dim", "4", "--checkpoint-every", "1e-9"], [OUT]),
    "lm": ([], [*LM, "--dim", "4"], [OUT]),
    "lm over": (OLD, [*LM, "--dim", "4", "--checkpoint-every", "1e-9"], [OUT]),
    "index": ([], ["lookup", "large.vec", "0", "--npy", "-o", "rows.npy"], [["rows.npy"]]),
}


class Test:
    def __init__(self, wte, shim):
        self.wte, self.shim, self.faults, self.done = wte, shim, [], {}
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="wte-kill-")).resolve()
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        self.work = self.top / "work"

    def run(self, args, **env):
        return subprocess.run([self.wte, *args], stdin=subprocess.DEVNULL, capture_output=True, cwd=self.work,
                              env=self.env | {"XDG_CACHE_HOME": str(self.work / "cache")} | env, timeout=120, check=False)

    def fresh(self, old):
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        make_inputs(self.work)
        (self.work / "older").write_text("a b c a b c d\n" * 20)
        for args in old:
            done = self.run(args)
            assert done.returncode == 0, (args, done.stderr)

    def large(self, name):
        """A text of vectors large enough for its index to be kept; made once."""
        path = self.top / "large.vec"
        if name == "index" and not path.exists():
            with open(path, "w", encoding="ascii") as f:
                f.write("6000 400\n")
                for i in range(6000):
                    f.write(f"w{i}" + f" {i % 7}.125000" * 400 + "\n")
        if name == "index":
            os.link(path, self.work / "large.vec")

    def contents(self, group):
        return [(self.work / f).read_bytes() if (self.work / f).is_file() else None for f in group]

    def stray(self):
        """Temporary files and journals, anywhere."""
        return sorted(str(p.relative_to(self.work)) for p in self.work.rglob(".*")
                      if p.name.endswith(".tmp") or p.name == ".wte-commit")

    def prepare(self, name):
        """The old and the new files of a job, and how many moments it has."""
        if name in self.done:
            return self.done[name]
        old, args, groups = JOBS[name]
        self.fresh(old)
        self.large(name)
        before = [self.contents(g) for g in groups]
        start = time.monotonic()
        done = self.run(args, LD_PRELOAD=self.shim, SHIM_COUNT=str(self.top / "count"))
        seconds = time.monotonic() - start
        assert done.returncode == 0, (args, done.stderr)
        after = [self.contents(g) for g in groups]
        self.done[name] = before, after, int((self.top / "count").read_text()), seconds
        return self.done[name]

    def same(self, group, a, b):
        """The picture has times of the clock in it: of that, only whether it is whole."""
        return all(x == y or (f.endswith(".svg") and x and y and x.endswith(b"</svg>\n")) for f, x, y in zip(group, a, b))

    def check_groups(self, name, what, only_new=False):
        _, args, groups = JOBS[name]
        before, after, _, _ = self.done[name]
        for group, old, new in zip(groups, before, after):
            now = self.contents(group)
            if not self.same(group, now, new) and (only_new or not self.same(group, now, old)):
                state = ["absent" if x is None else "new" if x == n else "old" if x == o else "neither"
                         for x, o, n in zip(now, old, new)]
                self.faults.append(f"{what}: {dict(zip(group, state))}")

    def after_signal(self, name, number, code, what):
        old = JOBS[name][0]
        wanted = 5 if number == signal.SIGXFSZ else 128 + number
        if code not in (wanted, 0):
            self.faults.append(f"{what}: exit {code}, not {wanted}")
        if self.stray():
            self.faults.append(f"{what}: left over: {self.stray()}")
        out = self.work / "out"
        if code and not old and out.is_dir() and not list(out.iterdir()):
            self.faults.append(f"{what}: an empty folder is left over")
        self.check_groups(name, what)

    def after_kill(self, name, code, what):
        _, args, groups = JOBS[name]
        if code not in (-signal.SIGKILL, 0):
            self.faults.append(f"{what}: exit {code}")
        if (self.work / "out").is_dir():
            self.run(["inspect", "out"])  # opening it finishes what was decided
        self.check_groups(name, what)
        more = ["--resume"] if (self.work / "out/checkpoint").exists() else []
        done = self.run([*args, *more])
        if done.returncode:
            self.faults.append(f"{what}: the next run: exit {done.returncode}: {done.stderr.decode()[:300]}")
        if self.stray():
            self.faults.append(f"{what}: left over after the next run: {self.stray()}")
        self.check_groups(name, f"{what}: the next run", only_new=True)

    def judge(self, name, number, code, what):
        if number == signal.SIGKILL:
            self.after_kill(name, code, what)
        else:
            self.after_signal(name, number, code, what)

    def at_call(self, name, number, n):
        what = f"{name}, {signal.Signals(number).name} at call {n}"
        self.fresh(JOBS[name][0])
        self.large(name)
        done = self.run(JOBS[name][1], LD_PRELOAD=self.shim, SHIM_AT=str(n), SHIM_SIGNAL=str(int(number)))
        self.judge(name, number, done.returncode, what)

    def at_time(self, name, number, seconds):
        what = f"{name}, {signal.Signals(number).name} after {seconds:.4f} s"
        self.fresh(JOBS[name][0])
        self.large(name)
        child = subprocess.Popen([self.wte, *JOBS[name][1]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, cwd=self.work,
                                 env=self.env | {"XDG_CACHE_HOME": str(self.work / "cache")})
        time.sleep(seconds)
        child.send_signal(number)
        code = child.wait(120)
        if code == -number and number != signal.SIGKILL:
            return  # before the handler was set: nothing had begun
        self.judge(name, number, code, what)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wte", required=True)
    parser.add_argument("--shim", required=True)
    parser.add_argument("--moments", type=int, default=200)
    parser.add_argument("--timed", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    draw = random.Random(args.seed)
    test = Test(str(pathlib.Path(args.wte).resolve()), str(pathlib.Path(args.shim).resolve()))
    names = list(JOBS)
    for i in range(args.moments):
        name = names[i % len(names)]
        count = test.prepare(name)[2]
        # the last calls, where files get their names, are drawn as often as all before
        n = draw.randint(1, count) if draw.random() < 0.5 else draw.randint(max(1, count - 40), count)
        test.at_call(name, SIGNALS[(i // len(names)) % len(SIGNALS)], n)
    for i in range(args.timed):
        name = draw.choice(names)
        test.at_time(name, draw.choice(SIGNALS), draw.random() * 1.1 * test.prepare(name)[3])
    shutil.rmtree(test.top)
    for fault in test.faults:
        print(f"kill_test: {fault}", file=sys.stderr)
    print(f"kill_test: {args.moments} moments of calls, {args.timed} of the clock, {len(test.faults)} faults")
    return 1 if test.faults else 0


if __name__ == "__main__":
    sys.exit(main())
