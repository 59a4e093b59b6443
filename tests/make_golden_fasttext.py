#!/usr/bin/env python3
"""Write tests/data/fasttext: small models by fastText itself, and its own vectors of their words, bit for bit.

usage: make_golden_fasttext.py      (with Debian's python3-fasttext 0.9.2)

Each line of NAME.txt: a word in hex, a blank, its vector as hexadecimal bits of f32. Models:
skip   unsupervised, words of one to four bytes a letter, 300 buckets, n-grams of 1 to 4 characters
whole  supervised and quantised, with lengths apart
cut    the same, pruned: n-grams without a row
bare   unsupervised without n-grams
NAME.unknown.txt has the same of words that the models do not know.
"""
import pathlib
import random
import struct
import sys
import tempfile

import fasttext

OUT = pathlib.Path(__file__).resolve().parent / "data/fasttext"
UNKNOWN = ["", "y", "foxes", "cafés", "語日", "😀😀", "überlonger", "<the>", "Ω", "straße"]
WORDS = ["the", "fox", "café", "naïve", "Ωmega", "日本", "語", "😀", "a", "é", "</s>", "x", "longerword", "über", "ß"]


def text(labels):
    rng = random.Random(7)
    pool = WORDS + ["w" + "".join(rng.choice("aeiouéñ") for _ in range(rng.randint(1, 5))) for _ in range(60)]
    lines = []
    for i in range(400):
        words = [rng.choice(pool) for _ in range(8)]
        lines.append((f"__label__{i % 3} " if labels else "") + " ".join(words))
    return "\n".join(lines) + "\n"


def bits(vector):
    return " ".join(struct.pack(">f", x).hex() for x in vector.tolist())


def save(name, model, ending):
    model.save_model(str(OUT / f"{name}.{ending}"))
    again = fasttext.load_model(str(OUT / f"{name}.{ending}"))
    write(OUT / f"{name}.txt", again, again.get_words())
    write(OUT / f"{name}.unknown.txt", again, UNKNOWN)


def write(path, model, words):
    with open(path, "w") as out:
        for word in words:
            out.write(f"{word.encode().hex()} {bits(model.get_word_vector(word))}\n")


def main():
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        plain, labelled = pathlib.Path(scratch) / "plain", pathlib.Path(scratch) / "labelled"
        plain.write_text(text(False))
        labelled.write_text(text(True))
        same = dict(dim=7, thread=1, verbose=0, minCount=1, epoch=2)
        save("skip", fasttext.train_unsupervised(str(plain), bucket=300, minn=1, maxn=4, **same), "bin")
        save("bare", fasttext.train_unsupervised(str(plain), bucket=0, minn=0, maxn=0, **same), "bin")
        model = fasttext.train_supervised(str(labelled), bucket=400, minn=2, maxn=3, **same)
        model.quantize(qnorm=True, dsub=2)
        save("whole", model, "ftz")
        model = fasttext.train_supervised(str(labelled), bucket=400, minn=2, maxn=3, **same)
        model.quantize(str(labelled), qnorm=False, cutoff=300, retrain=False, dsub=3)
        save("cut", model, "ftz")


if __name__ == "__main__":
    sys.exit(main())
