#!/usr/bin/env python3
"""Compare the vectors of fastText models with fastText's own, bit for bit.

usage: oracle_fasttext.py LIBRARY

Exit 77 when Debian's python3-fasttext is not there. Trains small models of every kind on noise: with and without
n-grams, supervised and not, quantised, pruned, words of any script.
"""
import ctypes as c
import pathlib
import random
import struct
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from oracle_wte import SKIPPED, Error, Rows  # noqa: E402

try:
    import fasttext
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(SKIPPED)

SEED = 20250311
LETTERS = ["abcdefghij", "äöüéñßå", "αβγδεζ", "日本語漢字", "😀🦊🌍", "аяъы"]
UNSUPERVISED = [
    dict(model="skipgram", minn=3, maxn=6, bucket=1000),
    dict(model="cbow", minn=1, maxn=2, bucket=7),
    dict(model="skipgram", minn=0, maxn=3, bucket=50),
    dict(model="cbow", minn=0, maxn=0, bucket=0),
    dict(model="skipgram", minn=5, maxn=4, bucket=50),
]
SUPERVISED = [
    (dict(minn=0, maxn=0, bucket=0, wordNgrams=1), None),
    (dict(minn=2, maxn=4, bucket=500, wordNgrams=2), None),
    (dict(minn=2, maxn=4, bucket=500, wordNgrams=2), dict(qnorm=True, dsub=2)),
    (dict(minn=1, maxn=3, bucket=500), dict(qnorm=False, dsub=3)),
    (dict(minn=1, maxn=3, bucket=500), dict(qnorm=True, dsub=4, cutoff=300, qout=True)),
]


class Library:
    def __init__(self, path):
        self.lib = c.CDLL(path)

    def call(self, name, *arguments):
        error = Error()
        if getattr(self.lib, "wte_" + name)(*arguments, c.byref(error)) != 0:
            raise RuntimeError(f"wte_{name}: {error.message.decode()}")

    def vectors(self, path):
        """[(word, its vector's bytes)]"""
        handle, rows, tokens, size = c.c_void_p(), Rows(), c.c_void_p(), c.c_uint64()
        self.call("file_open", str(path).encode(), None, c.byref(handle))
        self.call("file_row_source", handle, c.c_uint64(0), c.byref(rows))
        self.call("file_tokens", handle, c.byref(tokens))
        self.lib.wte_token_list_text.restype = c.c_void_p
        found = []
        for i in range(rows.rows):
            row = c.create_string_buffer(4 * rows.cols)
            self.call("row_source_read", c.byref(rows), c.c_uint64(i), row)
            text = self.lib.wte_token_list_text(tokens, c.c_uint64(i), c.byref(size))
            found.append((c.string_at(text, size.value), row.raw))
        self.lib.wte_file_free(handle)
        return found


def text(rng, labels):
    def word():
        letters = rng.choice(LETTERS)
        return "".join(rng.choice(letters) for _ in range(rng.randint(1, 9)))

    pool = [word() for _ in range(150)] + ["</s>", "<", ">", "a"]
    lines = (" ".join(rng.choice(pool) for _ in range(9)) for _ in range(300))
    return "".join((f"__label__{i} " if labels else "") + line + "\n" for i, line in enumerate(lines))


def compare(library, model, path):
    model.save_model(str(path))
    again = fasttext.load_model(str(path))
    words = again.get_words()
    found = library.vectors(path)
    assert len(found) == len(words), (len(found), len(words))
    for word, (text_bytes, row) in zip(words, found):
        assert text_bytes == word.encode(), (text_bytes, word)
        want = struct.pack(f"={again.get_dimension()}f", *again.get_word_vector(word).tolist())
        assert row == want, (word, row.hex(), want.hex())
    return len(words)


def main():
    library, rng, total = Library(sys.argv[1]), random.Random(SEED), 0
    fasttext.FastText.eprint = lambda *_: None
    with tempfile.TemporaryDirectory() as scratch:
        plain, labelled, path = (pathlib.Path(scratch) / n for n in ("plain", "labelled", "model"))
        plain.write_text(text(rng, False))
        labelled.write_text(text(rng, True))
        for options in UNSUPERVISED:
            model = fasttext.train_unsupervised(str(plain), dim=rng.randint(1, 40), thread=1, verbose=0, epoch=1,
                                                minCount=1, **options)
            total += compare(library, model, path)
        for options, quantised in SUPERVISED:
            model = fasttext.train_supervised(str(labelled), dim=rng.randint(4, 40), thread=1, verbose=0, epoch=1,
                                              minCount=1, **options)
            if quantised:
                model.quantize(str(labelled), **quantised)
            total += compare(library, model, path)
    print(f"{total} vectors of {len(UNSUPERVISED) + len(SUPERVISED)} models are fastText's own (seed {SEED})")


main()
