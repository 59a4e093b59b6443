#!/usr/bin/env python3
"""fastText models that wte train writes, as other software reads them.

usage: oracle_fasttext_write.py python WTE LIBRARY     Debian's python3-fasttext: the bits of every vector; that the inner nodes
                                                       of a tree predict for it what they were trained to; and that training
                                                       goes on from a model of its own
       oracle_fasttext_write.py command WTE LIBRARY    Debian's fasttext: print-word-vectors and nn
       oracle_fasttext_write.py gensim WTE LIBRARY     Debian's python3-gensim: load_facebook_vectors and load_facebook_model

Vectors of known and unknown words of any script are compared with those that this library reads. Exit 77 when the other
software is not here.
"""
import ctypes as c
import math
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED, Error, Rows  # noqa: E402

SEED = 20261130
LETTERS = ["abcdefghij", "äöüéñßå", "αβγδεζ", "日本語漢字", "😀🦊🌍", "аяъы"]
WAYS = [
    [*("--hierarchical",) * tree, *("--max-n", "5", "--min-n", "2", "--buckets", "700") * grams, "--method", method]
    for method in ("skip-gram", "cbow") for tree in (0, 1) for grams in (0, 1)
]


def word(rng):
    letters = rng.choice(LETTERS)
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 9)))


class Model:
    """What this library reads of a file."""

    def __init__(self, library, path):
        self.lib = c.CDLL(library)
        self.lib.wte_token_list_text.restype = c.c_void_p
        self.handle, self.rows, tokens, size = c.c_void_p(), Rows(), c.c_void_p(), c.c_uint64()
        self.call("file_open", str(path).encode(), None, c.byref(self.handle))
        self.call("file_row_source", self.handle, c.c_uint64(0), c.byref(self.rows))
        self.call("file_tokens", self.handle, c.byref(tokens))
        self.words = {}
        for i in range(self.rows.rows):
            text = self.lib.wte_token_list_text(tokens, c.c_uint64(i), c.byref(size))
            self.words[c.string_at(text, size.value).decode()] = i

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.lib, "wte_" + name)(*arguments, c.byref(error)) != 0:
            raise RuntimeError(f"wte_{name}: {error.message.decode()}")

    def vector(self, text):
        out = (c.c_float * self.rows.cols)()
        if text in self.words:
            self.call("row_source_read", c.byref(self.rows), c.c_uint64(self.words[text]), out)
        else:
            raw = text.encode()
            self.call("fasttext_oov_vector", self.handle, raw, c.c_uint64(len(raw)), out)
        return list(out)


def models(wte, library, folder):
    """(path, what this library reads, known and unknown words) for every way of training."""
    rng = random.Random(SEED)
    pool = [word(rng) for _ in range(120)]
    text = folder / "text"
    text.write_text("".join(" ".join(rng.choice(pool) for _ in range(9)) + "\n" for _ in range(400)))
    unknown = [word(rng) for _ in range(150)]
    for i, way in enumerate(WAYS):
        path = folder / f"{i}.bin"
        command = [wte, "train", text, "-o", folder / "out", "--dim", "17", "--threads", "1", "-q", "--fasttext", path, *way]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        model = Model(library, path)
        yield path, model, [*model.words, *(w for w in unknown if w not in model.words)]


# python3-fasttext ------------------------------------------------------------------------------


def as_supervised(data):
    """The model with a label for each of its words, so that fastText tells what the other table predicts."""
    head, at, entries = bytearray(data[:92]), 92, []
    count = struct.unpack_from("<i", data, 64)[0]
    for _ in range(count):
        end = data.index(b"\0", at)
        entries.append((data[at:end], data[end + 1 : end + 9]))
        at = end + 10
    struct.pack_into("<i", head, 36, 3)
    struct.pack_into("<iii", head, 64, 2 * count, count, count)
    labels = b"".join(b"__label__" + text + b"\0" + often + b"\1" for text, often in entries)
    return bytes(head) + data[92:at] + labels + data[at:]


def surprise(fasttext, wte, folder, way):
    """Mean of -ln of what a word tells of its neighbours, for texts of three topics of eight words."""
    rng = random.Random(SEED)
    lines = [[f"{topic}{rng.randrange(8)}" for _ in range(10)] for topic in rng.choices("abc", k=1500)]
    text, path = folder / "topics", folder / "tree.bin"
    text.write_text("".join(" ".join(line) + "\n" for line in lines))
    command = [wte, "train", text, "-o", folder / "out", "--no-eos", "--dim", "20", "--window", "2", "--epochs", "20", "--sample",
               "0", "--threads", "1", "-q", "--fasttext", path, *way]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    path.write_bytes(as_supervised(path.read_bytes()))
    model, total, n = fasttext.load_model(str(path)), 0, 0
    told = {}
    for line in lines[:200]:
        for one, next_one in zip(line, line[1:]):
            if one not in told:
                told[one] = dict(zip(*model.predict(one, k=24, threshold=-1)))
            total -= math.log(told[one][f"__label__{next_one}"])
            n += 1
    return total / n


def goes_on(fasttext, wte, folder):
    """A step of no length from a model that fastText has trained gives both of its matrices back."""
    text, first, second = folder / "text", folder / "first.bin", folder / "second.bin"
    model = fasttext.train_unsupervised(str(text), dim=17, minn=2, maxn=4, bucket=500, epoch=2, thread=1, verbose=0)
    model.save_model(str(first))
    command = [wte, "train", text, "-o", folder / "out", "--init-from", first, "--epochs", "1", "--lr", "1e-30", "--threads", "1", "-q",
               "--fasttext", second]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    again = fasttext.load_model(str(second))
    assert again.get_words(include_freq=True)[0] == model.get_words(include_freq=True)[0]
    assert (again.get_words(include_freq=True)[1] == model.get_words(include_freq=True)[1]).all()
    for matrix in ("get_input_matrix", "get_output_matrix"):
        assert abs(getattr(again, matrix)() - getattr(model, matrix)()).max() < 1e-20, matrix


def by_python(wte, library, folder):
    try:
        import fasttext
    except ImportError as missing:
        return skip(missing)
    fasttext.FastText.eprint = lambda *_: None
    total = 0
    for path, model, words in models(wte, library, folder):
        other = fasttext.load_model(str(path))
        assert other.get_words() == list(model.words)
        for text in words:
            want = struct.pack("=17f", *other.get_word_vector(text).tolist())
            assert struct.pack("=17f", *model.vector(text)) == want, (path, text)
        total += len(words)
    goes_on(fasttext, wte, folder)
    for way in WAYS:
        if "--hierarchical" in way and "skip-gram" in way:
            found = surprise(fasttext, wte, folder, way)
            assert found < 2.5, found  # ln 8 = 2.08 is the least, ln 24 = 3.18 that of knowing nothing
    print(f"{total} vectors of {len(WAYS)} models have the bits that fastText gives them (seed {SEED})")
    return 0


# The command -----------------------------------------------------------------------------------


def by_command(wte, library, folder):
    program = shutil.which("fasttext")
    if not program:
        return skip("the command fasttext is not here")
    total = 0
    for path, model, words in models(wte, library, folder):
        told = subprocess.run([program, "print-word-vectors", path], input="\n".join(words) + "\n", text=True,
                              capture_output=True, check=True).stdout
        found = [line.split(" ") for line in told.splitlines()]
        assert [line[0] for line in found] == words
        for line in found:
            for got, want in zip(line[1:], model.vector(line[0])):  # five digits are printed
                assert abs(float(got) - want) <= 5.1e-5 * abs(want), (path, line[0], got, want)
        first = next(iter(model.words))
        nearest = subprocess.run([program, "nn", path, "3"], input=first + "\n", text=True, capture_output=True, check=True)
        assert check_nearest(model, first, nearest.stdout), nearest.stdout
        total += len(words)
    print(f"{total} vectors of {len(WAYS)} models are as print-word-vectors has them (seed {SEED})")
    return 0


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))


def check_nearest(model, first, told):
    here = model.vector(first)
    ranked = sorted((-cosine(here, model.vector(w)), w) for w in model.words if w != first)[:3]
    lines = told.replace("Query word? ", "").split("\n")[:3]
    return all(abs(-want - float(line.split(" ")[1])) < 1e-4 for (want, _), line in zip(ranked, lines))


# gensim ----------------------------------------------------------------------------------------


def by_gensim(wte, library, folder):
    try:
        from gensim.models.fasttext import load_facebook_model, load_facebook_vectors
    except ImportError as missing:
        return skip(missing)
    total = 0
    for path, model, words in models(wte, library, folder):
        vectors, whole = load_facebook_vectors(str(path)), load_facebook_model(str(path))
        assert list(vectors.index_to_key) == list(model.words)
        assert (whole.hs, whole.sg) == ("--hierarchical" in WAYS[int(path.stem)], "skip-gram" in WAYS[int(path.stem)])
        grams = vectors.bucket > 0
        for text in words:
            if text == "</s>" or not grams and text not in model.words:
                continue  # gensim gives line ends n-grams, which fastText does not, and has no zeros for who has none
            want = model.vector(text)
            scale = max(map(abs, want))
            assert max(abs(float(x) - y) for x, y in zip(vectors[text], want)) <= 1e-6 * scale, (path, text)
            total += 1
        whole.train([words[:5]] * 3, total_examples=3, epochs=1)  # it can go on with all parts
    print(f"{total} vectors of {len(WAYS)} models are as gensim has them (seed {SEED})")
    return 0


def skip(why):
    print(f"skipped: {why}")
    return SKIPPED


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    ways = {"python": by_python, "command": by_command, "gensim": by_gensim}
    with tempfile.TemporaryDirectory() as scratch:
        return ways[sys.argv[1]](*sys.argv[2:], pathlib.Path(scratch))


sys.exit(main())
