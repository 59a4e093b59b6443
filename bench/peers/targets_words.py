#!/usr/bin/env python3
"""Word vectors: wte train in turn with fastText and gensim (Debian's fasttext and python3-gensim), one thread each.

usage: targets_words.py libwte.so [PART OF AN OPERATION'S NAME...]

Speed: the processor's time for one epoch over the first 8 MB of the dictionary that scripts/fetch-corpora brings: that of a run
of more epochs (2; of wte 21) less that of a run of one, so that counting, first values and writing cancel out. Seconds of the processor, not of the
clock: what else runs here counts little. Quality ("words ... quality ..."): five epochs over 26 MB (13 MB with n-grams, which take
fastText minutes), each contender's vectors judged by wte eval with the word files of scripts/fetch-models; the ratio is our score over
the other's. Settings are the same: 100 numbers, window 5, 5 negative samples, words of 5 occurrences, sample 1e-4, learning rate
0.025 (0.05 for cbow and with n-grams of 3 to 6 characters). Samples are drawn by count^0.75 by wte and gensim, by count^0.5 by
fastText, where that is fixed. JSON lines on stdout, as pairs.py says, each with what it is made of: seconds of an epoch, or scores.
WTE_BENCH_ROUNDS: rounds of speed (3). WTE_BENCH_EACH: a command with which each run is started, a queue for a machine that others
use, say; the contenders take turns, and its own time is not counted.
"""
import contextlib
import importlib.util
import json
import os
import pathlib
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

import pairs

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = ROOT / ".cache/corpora/gcide.words"
FILES = ROOT / ".cache/models/word-files"
SPEED_BYTES, QUALITY_BYTES, QUALITY_BYTES_GRAMS, QUALITY_EPOCHS = 8_000_000, 26_000_000, 13_000_000, 5
EACH = shlex.split(os.environ.get("WTE_BENCH_EACH", ""))
# name: method, n-grams, learning rate
WAYS = {
    "skip-gram": ("skip-gram", False, 0.025),
    "cbow": ("cbow", False, 0.05),
    "skip-gram n-grams": ("skip-gram", True, 0.05),
    "cbow n-grams": ("cbow", True, 0.05),
}
GENSIM = """
import sys
from gensim.models import FastText, Word2Vec
text, out, method, grams, rate, epochs = sys.argv[1:]
kind = FastText if grams == "True" else Word2Vec
more = {"min_n": 3, "max_n": 6, "bucket": 2000000} if grams == "True" else {}
model = kind(corpus_file=text, vector_size=100, window=5, min_count=5, sample=1e-4, workers=1, sg=int(method == "skip-gram"),
             negative=5, ns_exponent=0.75, alpha=float(rate), min_alpha=1e-7, seed=1, epochs=int(epochs), **more)
model.wv.save_word2vec_format(out)
"""


class Wte:
    more = 20  # epochs more than one, so that they can be told from what varies between runs

    def __init__(self, program, folder):
        self.program, self.out = program, folder / "wte"

    def command(self, text, way, epochs):
        method, grams, rate = WAYS[way]
        more = ["--max-n", "6"] if grams else []
        made = [self.program, "train", text, "-o", self.out, "--method", method, "--epochs", epochs, "--lr", rate]
        return [*made, "--threads", 1, "--quiet", *more], self.out


class Fasttext:
    more = 1

    def __init__(self, folder):
        self.program, self.out = shutil.which("fasttext"), folder / "fasttext"
        if not self.program:
            raise OSError("the command fasttext is not here (Debian's package fasttext)")

    def command(self, text, way, epochs):
        method, grams, rate = WAYS[way]
        made = [self.program, method.replace("-", ""), "-input", text, "-output", self.out, "-dim", 100, "-ws", 5]
        made += ["-neg", 5, "-epoch", epochs, "-thread", 1, "-minCount", 5, "-t", 1e-4, "-lr", rate]
        return [*made, "-minn", 3, "-maxn", 6 if grams else 0], self.out.with_suffix(".vec")


class Gensim:
    more = 1

    def __init__(self, folder):
        self.out = folder / "gensim.vec"
        if not importlib.util.find_spec("gensim"):
            raise OSError("this Python has no gensim (Debian's package python3-gensim)")

    def command(self, text, way, epochs):
        method, grams, rate = WAYS[way]
        return [sys.executable, "-c", GENSIM, text, self.out, method, grams, rate, epochs], self.out


def timed(result, *command):
    """Runs a command and leaves the seconds of the processor that it took in the file `result`."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    pathlib.Path(result).write_text(str(used.ru_utime + used.ru_stime))
    sys.exit(child.returncode)


def seconds_of(command):
    """Seconds of the processor that a command takes, behind what EACH run is started with."""
    with tempfile.NamedTemporaryFile("r") as result:
        child = subprocess.run([*EACH, sys.executable, __file__, "--timed", result.name, *map(str, command)], check=False)
        if child.returncode:
            raise SystemExit(f"{command[0]}: exit {child.returncode}")
        return float(result.read())


def part_of_text(folder, size):
    path = folder / f"text-{size}"
    if not path.exists():
        with open(TEXT, "rb") as file:
            path.write_bytes(file.read(size))
    return path


def speed(way, contenders, text):
    rounds = 1 if pairs.TRIAL else int(os.environ.get("WTE_BENCH_ROUNDS", "3"))
    times = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            few, many = (seconds_of(contender.command(text, way, epochs)[0]) for epochs in (1, 1 + contender.more))
            times[name].append((many - few) / contender.more)
    words = len(text.read_bytes().split())
    more = {name + " words/s": round(words / statistics.median(taken)) for name, taken in times.items()}
    more |= {name + " seconds": [round(second, 4) for second in taken] for name, taken in times.items()}
    pairs.report(f"words {way}", 1, times, **more)


def scores_of(wte, model):
    """What wte eval says: name of the file: score."""
    command = [wte, "eval", model, "--lower", "--json"]
    command += ["--similarity", FILES / "wordsim353.tsv", "--similarity", FILES / "simlex999.txt"]
    command += ["--analogy", FILES / "questions-words.txt", "--restrict", "30000"]
    found = json.loads(subprocess.run([*EACH, *command], check=True, capture_output=True).stdout)
    scores = {pathlib.Path(line["file"]).stem: line["spearman"] for line in found["similarity"]}
    return scores | {pathlib.Path(line["file"]).stem: line["total"]["accuracy"] for line in found["analogies"]}


def quality(way, contenders, text, wte):
    scores = {}
    for name, contender in contenders.items():
        command, out = contender.command(text, way, QUALITY_EPOCHS)
        seconds_of(command)
        scores[name] = scores_of(wte, out)
    for name in scores:
        for file, score in scores[name].items():
            if name == "wte":
                continue
            ours = scores["wte"][file]
            line = {"bench": "targets", "operation": f"words {way} quality {file}", "threads": 1, "peer": name}
            line |= {"ratio": round(ours / score, 3), "pairs": 1, "wte": round(ours, 4), "other": round(score, 4)}
            print(json.dumps(line | ({"trial": True} if pairs.TRIAL else {})), flush=True)


def all_contenders(program, folder):
    contenders = {"wte": Wte(program, folder)}
    for name, kind in (("fastText", Fasttext), ("gensim", Gensim)):
        try:
            contenders[name] = kind(folder)
        except OSError as error:
            pairs.missing(name, error)
    return contenders


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    if sys.argv[1] == "--timed":
        timed(*sys.argv[2:])
    program, asked = pathlib.Path(sys.argv[1]).resolve().with_name("wte"), sys.argv[2:]
    if not TEXT.exists():
        pairs.missing("words", f"{TEXT.name} is not here: scripts/fetch-corpora gcide")
        return
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wte-words-")))
        contenders = all_contenders(program, folder)
        for way in WAYS:
            if not asked or any(part in f"words {way} speed" for part in asked):
                speed(way, contenders, part_of_text(folder, SPEED_BYTES))
        for way in WAYS if FILES.exists() else ():
            if not asked or any(part in f"words {way} quality" for part in asked):
                size = QUALITY_BYTES_GRAMS if WAYS[way][1] else QUALITY_BYTES
                quality(way, contenders, part_of_text(folder, size), program)


if __name__ == "__main__":
    main()
