#!/usr/bin/env python3
"""Every output option of every command against every input of it, and against every other output.

usage: outputs_sweep.py --wte PROGRAM [--full]

The options come from `wte help --json`, so that a new one is in the sweep at once. No output may replace an input, under
whatever name: exit 2, a message, and not a byte changed. Then each output goes to /dev/null, stdout, a pipe and a file,
and the same bytes must arrive; for that a command with outputs needs a line in JOBS, and without one this test fails.
--full: every kind of name for every file (else one file with every kind, and the others by their plain names).
"""
import argparse
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import threading

WRITES = ("write-answer", "write-text", "write-binary", "write-folder")
# A run of each command that succeeds: words and options besides the outputs. {m}, {h}, {ids}, {text} are inputs.
JOBS = {
    "new": [["--rows", "5", "--dim", "3"]],
    "lookup": [["{m}", "1", "3", "--npy"], ["{m}", "--ids", "{ids}", "--raw"], ["{m}", "2"], ["{m}", "2", "--json"]],
    "logits": [["{m}", "--hidden", "{h}"]],
    "loss": [["{m}", "--hidden", "{h}", "--targets", "{ids}"]],
    "check": [["{m}"]],
    "train": [["{text}", "--min-count", "1", "--dim", "4", "--epochs", "1", "--deterministic", "--threads", "1"]],
}


def npy(path, rows, cols, numbers):
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {cols}), }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.encode() + struct.pack(f"<{len(numbers)}f", *numbers))


def make_inputs(folder):
    """The model m (and its one file), hidden vectors h, ids, a text."""
    m = folder / "m"
    (m / "sub").mkdir(parents=True)
    rows, cols = 8, 3
    data = struct.pack(f"<{rows * cols}f", *[(i * 7 % 11) / 5 - 1 for i in range(rows * cols)])
    header = json.dumps({"embedding.weight": {"dtype": "F32", "shape": [rows, cols], "data_offsets": [0, len(data)]}})
    header += " " * (-len(header) % 8)
    (m / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header.encode() + data)
    (m / "config.json").write_text('{"model_type": "gpt2", "vocab_size": 8, "hidden_size": 3}')
    (m / "vocab.txt").write_text("".join(f"{w}\n" for w in "abcdefgh"))
    (m / "README.md").write_text("a model\n")
    (m / "sub" / "more.bin").write_text("more")
    npy(folder / "h", 2, cols, [0.5, -1, 2, 1, 0, -0.25])
    (folder / "ids").write_text("3 1\n")
    (folder / "text").write_text("the cat sat on the mat and the dog sat too\n" * 9)


def snapshot(folder):
    found = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        found[name] = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else None
    return found


class Sweep:
    def __init__(self, wte, full):
        self.wte, self.full, self.runs, self.faults = wte, full, 0, []
        self.top = pathlib.Path(tempfile.mkdtemp(prefix="wte-sweep-")).resolve()
        self.env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "XDG_CACHE_HOME": str(self.top / "cache")}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]

    def run(self, args, **more):
        self.runs += 1
        more = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE} | more
        return subprocess.run([self.wte, *args], stderr=subprocess.PIPE, env=self.env, cwd=self.work, timeout=60,
                              check=False, **more)

    def fault(self, args, why):
        self.faults.append(f"wte {' '.join(args)}: {why}")

    def fresh(self):
        self.work = self.top / "work"
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir()
        make_inputs(self.work)

    # Refusals ----------------------------------------------------------------------------------

    def refused(self, args):
        before = snapshot(self.work)
        done = self.run(args)
        message = done.stderr.decode("utf-8", "replace")
        if done.returncode != 2:
            self.fault(args, f"exit {done.returncode}, not 2: {message.strip()[:200]}")
        elif not any(part in message for part in ("would replace", "both name", "both go to", "are one file", "holds", "would become")):
            self.fault(args, f"refused for another reason: {message.strip()[:200]}")
        if snapshot(self.work) != before:
            self.fault(args, f"files changed: {sorted(set(before) ^ set(snapshot(self.work)))}")

    def names_of(self, path, every):
        """Names under which the file can be given."""
        yield path
        if not every:
            return
        yield f"./{path}"
        yield str(self.work / path)
        if (self.work / path).exists():  # a link to nothing is refused for itself
            (self.work / "soft").symlink_to(path)
            yield "soft"
            (self.work / "softer").symlink_to("soft")
            yield "softer"
        (self.work / "there").symlink_to(".")
        yield f"there/{path}"
        if (self.work / path).is_file():
            os.link(self.work / path, self.work / "hard")
            yield "hard"

    def inputs_of(self, command):
        """(arguments that name the input, its files) for each word and option that is read."""
        words = command["paths"] if command["paths"] >= 0 else 2
        words = min(words, command["max_words"]) if command["max_words"] >= 0 else words
        plain = "m" if command["path_kind"] == "read-model" else "text"
        model_files = ["m/model.safetensors", "m/config.json", "m/vocab.txt", "m/README.md", "m/sub/more.bin"]
        missing = ["m/tokenizer.json", "m/adapter_config.json"]  # would change how the model is read
        for i in range(words):
            given = [plain] * words
            if command["path_kind"] == "read-model":
                yield given, [], model_files + missing
                given = list(given)
                given[i] = "m/model.safetensors"
                yield given, [], ["m/model.safetensors", "m/config.json", "m/tokenizer.json"]
            else:
                yield given, [], ["text"]
        rest = [plain] * words
        for o in command["options"]:
            if o["kind"] == "read-file":
                yield rest, [f"--{o['name']}", "ids"], ["ids"]
                yield rest, [f"--{o['name']}", "-"], ["ids"]  # stdin comes from it
            elif o["kind"] == "read-model":
                yield rest, [f"--{o['name']}", "m"], model_files + missing

    def against_inputs(self, command, output):
        name = f"--{output['name']}"
        for words, options, files in self.inputs_of(command):
            for i, file in enumerate(files):
                if output["kind"] == "write-folder":
                    continue  # its files: below
                self.fresh()
                for alias in self.names_of(file, self.full or i == 0):
                    args = [command["name"], *words, *options, name, alias]
                    if options[1:] == ["-"]:
                        with open(self.work / "ids", "rb") as stdin:
                            before = snapshot(self.work)
                            done = self.run(args, stdin=stdin)
                        if done.returncode != 2 or b"would replace" not in done.stderr or snapshot(self.work) != before:
                            self.fault(args, f"< ids: exit {done.returncode}: {done.stderr.decode()[:200]}")
                        continue
                    self.refused(args)

    def folder_against_inputs(self, command, output):
        """Each file of the folder as each input; the folder of a foreign model."""
        name = f"--{output['name']}"
        for file in command["files"]:
            for words, options, _ in self.inputs_of(command):
                self.fresh()
                (self.work / "out").mkdir()
                (self.work / "out" / file).write_text("the cat sat on the mat\n" * 9)
                os.link(self.work / "out" / file, self.work / "hard")
                for given in (f"out/{file}", "hard"):
                    if options:
                        args = [command["name"], *words, options[0], given, name, "out"]
                    else:
                        args = [command["name"], given, *words[1:], name, "out"]
                    self.refused(args)
        self.fresh()
        self.refused([command["name"], "text", name, "m"])
        for file in ("model.safetensors", "vocab.txt", "x.gguf", "pytorch_model.bin", "tokenizer.json"):
            self.fresh()
            (self.work / "out").mkdir()
            (self.work / "out" / file).write_text("mine")
            self.refused([command["name"], "text", name, "out"])

    def against_outputs(self, command, a, b):
        words = next(self.inputs_of(command))[0]
        for there in (False, True):
            self.fresh()
            if a["kind"] == "write-folder" or b["kind"] == "write-folder":
                folder, other = (a, b) if a["kind"] == "write-folder" else (b, a)
                for file in command["files"]:
                    for alias in (f"out/{file}", f"./out//{file}"):
                        self.refused([command["name"], *words, f"--{folder['name']}", "out", f"--{other['name']}", alias])
                continue
            if there:
                (self.work / "both").write_text("old")
            for alias in self.names_of("both", True):
                self.refused([command["name"], *words, f"--{a['name']}", "both", f"--{b['name']}", alias])

    # Targets -----------------------------------------------------------------------------------

    def to_fifo(self, args, name):
        os.mkfifo(self.work / name)
        got = []
        reader = threading.Thread(target=lambda: got.append((self.work / name).read_bytes()), daemon=True)
        reader.start()
        done = self.run(args)
        reader.join(30)
        return done, got[0] if got else b""

    def to_targets(self, command, output, job):
        inputs = {"m": "m", "h": "h", "ids": "ids", "text": "text"}
        base = [command["name"], *[w.format(**inputs) for w in job]]
        for o in command["options"]:  # a folder is needed beside the other outputs
            if o["kind"] == "write-folder" and o is not output:
                base += [f"--{o['name']}", "out"]
        option = f"--{output['name']}"
        self.fresh()
        if output["kind"] == "write-folder":
            done = self.run([*base, option, "out"])
            missing = [f for f in command["files"] if f != "checkpoint" and not (self.work / "out" / f).is_file()]
            if done.returncode or missing:
                self.fault(base, f"exit {done.returncode}, not there: {missing}: {done.stderr.decode()[:200]}")
            for bad in ("-", "/dev/stdout", "/dev/null"):
                if self.run([*base, option, bad]).returncode not in (2, 5):
                    self.fault([*base, option, bad], "a stream is no folder")
            return
        name = "file.npy"
        done = self.run([*base, option, name])
        if done.returncode:
            return self.fault([*base, option, name], f"exit {done.returncode}: {done.stderr.decode()[:200]}")
        want = (self.work / name).read_bytes()
        targets = ["/dev/null"] + ([] if "--json" in base and output["kind"] != "write-answer" else ["-", "/dev/stdout", "/dev/fd/1"])
        for target in targets:
            self.fresh()
            args = [*base, option, target]
            before = snapshot(self.work)
            done = self.run(args)
            if done.returncode or (target != "/dev/null" and done.stdout != want):
                self.fault(args, f"exit {done.returncode}, {len(done.stdout)} bytes, not {len(want)}: {done.stderr.decode()[:200]}")
            stray = {k for k in set(snapshot(self.work)) ^ set(before) if not k.startswith("out")}
            if stray:
                self.fault(args, f"files: {stray}")
        self.fresh()
        done, got = self.to_fifo([*base, option, "pipe.npy"], "pipe.npy")
        if done.returncode or got != want:
            self.fault([*base, option, "pipe.npy"], f"a pipe: exit {done.returncode}, {len(got)} bytes, not {len(want)}")
        self.fresh()  # appended to what stands there, not in its place
        (self.work / "log").write_bytes(b"first\n")
        with open(self.work / "log", "ab") as log:
            done = self.run([*base, option, "/dev/stdout"], stdout=log)
        if done.returncode or (self.work / "log").read_bytes() != b"first\n" + want:
            self.fault([*base, option, "/dev/stdout"], f">> log: exit {done.returncode}")
        done = self.run([*base, option, "/dev/full"])
        if want and done.returncode != 5:
            self.fault([*base, option, "/dev/full"], f"exit {done.returncode}, not 5: {done.stderr.decode()[:200]}")
        done = self.run([*base, option, "none/file.npy"])
        if done.returncode != 5 or b"none/file.npy" not in done.stderr:
            self.fault([*base, option, "none/file.npy"], f"exit {done.returncode}: {done.stderr.decode()[:200]}")

    def all(self):
        self.work = self.top
        listing = json.loads(self.run(["help", "--json"]).stdout)
        outputs = 0
        for command in listing["commands"]:
            written = [o for o in command["options"] if o["kind"] in WRITES]
            outputs += len(written)
            for i, output in enumerate(written):
                self.against_inputs(command, output)
                if output["kind"] == "write-folder":
                    self.folder_against_inputs(command, output)
                for other in written[:i]:
                    self.against_outputs(command, other, output)
                jobs = JOBS.get(command["name"])
                if not jobs:
                    self.fault([command["name"]], "writes files, but has no line in JOBS")
                for job in jobs or []:
                    self.to_targets(command, output, job)
        shutil.rmtree(self.top)
        return outputs


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wte", required=True)
    parser.add_argument("--full", action="store_true")
    args = parser.parse_args()
    sweep = Sweep(str(pathlib.Path(args.wte).resolve()), args.full)
    outputs = sweep.all()
    for fault in sweep.faults:
        print(f"outputs_sweep: {fault}", file=sys.stderr)
    print(f"outputs_sweep: {outputs} outputs, {sweep.runs} runs, {len(sweep.faults)} faults")
    return 1 if sweep.faults or not outputs else 0


if __name__ == "__main__":
    sys.exit(main())
