#!/usr/bin/env python3
"""wte eval against other software.

    oracle_eval.py WTE numpy                   random tables and words: Spearman by definition (plain Python), analogies
                                               by brute force, singular values by SVD, neighbours by a full ranking
    oracle_eval.py WTE gensim MODELS           gensim's evaluate_word_pairs and evaluate_word_analogies on the words of
                                               fetched models, with the word files that gensim carries

Exit 0: all agree; 1: some do not (they are printed); 77: NumPy, gensim, the models or the word files are not here.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
ANALOGIES = 4000  # of questions-words.txt: gensim answers one at a time


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


class Comparison:
    def __init__(self, program):
        self.program, self.done, self.wrong = program, 0, 0

    def run(self, *words):
        done = subprocess.run([self.program, "eval", "--json", *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"wte eval {words}: exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def expect(self, got, want, bound, what):
        self.done += 1
        if not abs(got - want) <= bound:
            self.wrong += 1
            print(f"DIFFERENT {what}: {got}, not {want}")

    def finish(self, versions):
        print(f"{self.done} comparisons, {self.wrong} different, {versions}")
        sys.exit(self.wrong != 0)


# By definition, in plain Python ----------------------------------------------------------------


def ranks(values):
    return [(sum(v < x for v in values) + sum(v <= x for v in values) + 1) / 2 for x in values]


def pearson(x, y):
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    a, b = [v - mean_x for v in x], [v - mean_y for v in y]
    dot = lambda p, q: sum(s * t for s, t in zip(p, q))
    return dot(a, b) / (dot(a, a) * dot(b, b)) ** 0.5


# A row with itself has exactly 1: math.sqrt rounds correctly, a power need not.
def cosine(x, y):
    dot = lambda p, q: sum(s * t for s, t in zip(p, q))
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


class Plain:
    """Tables of random words, written as word2vec's binary files (a text would be parsed anew for each of a million
    drawn pairs), and what NumPy makes of the same numbers."""

    def __init__(self, comparison, np, folder, rows, cols, seed):
        self.c, self.np, self.folder = comparison, np, folder
        self.random = np.random.RandomState(seed)
        self.words = [f"w{i}" for i in range(rows)]
        self.table = self.write("a.bin", self.random.normal(size=(rows, cols)) + 0.3, self.words)

    def write(self, name, table, words):
        table = table.astype(self.np.float32)
        rows = [word.encode() + b" " + row.tobytes() + b"\n" for word, row in zip(words, table)]
        (self.folder / name).write_bytes(b"%d %d\n" % table.shape + b"".join(rows))
        return table.astype(self.np.float64)

    def similarity(self, pairs):
        chosen = self.random.randint(len(self.words) + 3, size=(pairs, 2))
        judged = self.random.randint(12, size=pairs) / 2  # many are equal
        text = "".join(f"w{a}\tw{b}\t{s}\n" for (a, b), s in zip(chosen, judged))
        (self.folder / "pairs.tsv").write_text(text)
        got = self.c.run(self.folder / "a.bin", "--similarity", self.folder / "pairs.tsv")["similarity"][0]
        rows = self.table.tolist()
        known = [(s, cosine(rows[a], rows[b])) for (a, b), s in zip(chosen, judged) if max(a, b) < len(rows)]
        x, y = [k[0] for k in known], [k[1] for k in known]
        self.c.expect(got["covered"], len(known), 0, "pairs covered")
        self.c.expect(got["spearman"], pearson(ranks(x), ranks(y)), 1e-12, "spearman")
        self.c.expect(got["pearson"], pearson(x, y), 1e-12, "pearson")

    def analogies(self, questions):
        np = self.np
        unit = self.table / np.linalg.norm(self.table, axis=1, keepdims=True)
        right = doubtful = 0
        lines = [": random"]
        for a, b, c in self.random.randint(len(unit), size=(questions, 3)):
            scores = unit @ (unit[b] - unit[a] + unit[c])
            scores[[a, b, c]] = -np.inf
            first, second = np.argsort(-scores, kind="stable")[:2]
            doubtful += scores[first] - scores[second] < 1e-6
            asked = first if self.random.randint(2) else second
            right += asked == first
            lines.append(f"w{a} w{b} w{c} w{asked}")
        (self.folder / "questions.txt").write_text("\n".join(lines) + "\n")
        got = self.c.run(self.folder / "a.bin", "--analogy", self.folder / "questions.txt")["analogies"][0]["total"]
        self.c.expect(got["asked"], questions, 0, "analogies asked")
        self.c.expect(got["right"], right, doubtful, "analogies that are right")

    def agreement(self, top):
        np = self.np
        order = self.random.permutation(len(self.words))[: len(self.words) * 3 // 4]
        noise = self.random.normal(size=self.table.shape)
        other = self.write("b.bin", (self.table + noise)[order], [self.words[i] for i in order])
        got = self.c.run(self.folder / "a.bin", "--against", self.folder / "b.bin", "--top", top, "--sample", 0,
                         "--pairs", 400000)["agreement"]
        common, cosines = [], []
        for table in (self.table[order], other):
            unit = table / np.linalg.norm(table, axis=1, keepdims=True)
            products = unit @ unit.T
            cosines.append(products[np.triu_indices(len(order), 1)])
            np.fill_diagonal(products, -np.inf)
            common.append(np.argsort(-products, axis=1, kind="stable")[:, :top])
        share = np.mean([len(set(a) & set(b)) / top for a, b in zip(*common)])
        self.c.expect(got["shared"], len(order), 0, "shared tokens")
        self.c.expect(got["common_neighbours"], share, 1e-3, "common neighbours")
        self.c.expect(got["pearson"], np.corrcoef(*cosines)[0, 1], 5e-3, "correlation of cosines")

    def isotropy(self):
        np, x = self.np, self.table
        got = self.c.run(self.folder / "a.bin")["isotropy"]
        for key, matrix in (("as_stored", x), ("centred", x - x.mean(axis=0))):
            s = np.linalg.svd(matrix, compute_uv=False)
            s = np.concatenate([s, np.zeros(x.shape[1] - len(s))])
            p = s[s > 1e-9] / s.sum()
            for i, value in enumerate(got[key]["singular_values"]):
                small = s[i] < 1e-6 * s[0]  # lost in the roundings of products
                self.c.expect(value, s[i], 1e-6 * s[0] if small else 1e-12 * s[0], f"{key}: singular value {i}")
            self.c.expect(got[key]["effective_rank"], np.exp(-(p * np.log(p)).sum()), 1e-4, f"{key}: effective rank")
            self.c.expect(got[key]["share_of_first"], s[0] ** 2 / (s**2).sum(), 1e-12, f"{key}: share of the first")
        unit = x / np.linalg.norm(x, axis=1, keepdims=True)
        n = len(x)
        self.c.expect(got["cosine_mean"], ((unit @ unit.T).sum() - n) / (n * (n - 1)), 1e-12, "mean cosine")
        self.c.expect(got["norm_mean"], np.linalg.norm(x, axis=1).mean(), 1e-12, "mean length")
        self.c.expect(got["mean_row_norm"], np.linalg.norm(x.mean(axis=0)), 1e-12, "length of the mean row")
        vectors = np.linalg.svd(x)[2]
        z = np.exp(x @ np.concatenate([vectors, -vectors]).T).sum(axis=0)
        self.c.expect(got["partition"], z.min() / z.max(), 1e-5, "partition")


def against_numpy(comparison):
    try:
        import numpy as np
    except ImportError:
        skip("this Python has no NumPy")
    for rows, cols, seed in ((30, 4, 1), (400, 25, 2), (900, 64, 3), (50, 80, 4)):
        with tempfile.TemporaryDirectory() as folder:
            plain = Plain(comparison, np, pathlib.Path(folder), rows, cols, seed)
            plain.similarity(150)
            plain.analogies(300)
            plain.agreement(7)
            plain.isotropy()
    comparison.finish(f"NumPy {np.__version__}")


# gensim ----------------------------------------------------------------------------------------


def words_of_model(folder):
    """The words that are one token, and their rows: [(word, row)], by row."""
    vocab = json.loads((folder / "tokenizer.json").read_text())["model"]["vocab"]
    marked = any(token.startswith("\u2581") for token in vocab)
    found = {}
    for token, row in vocab.items():
        word = token[1:] if marked and token.startswith("\u2581") else "" if marked else token
        if word.isalpha() and word == word.lower() and word.isascii():
            found.setdefault(word, row)
    return sorted(found.items(), key=lambda item: item[1])


def read_table(path):
    import numpy as np

    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    tensors = json.loads(data[8:8 + size])
    entry = next(t for name, t in tensors.items() if name.endswith(("embedding.weight", "word_embeddings.weight")))
    first, last = entry["data_offsets"]
    dtype = {"F32": np.float32, "F16": np.float16}[entry["dtype"]]
    return np.frombuffer(data[8 + size + first:8 + size + last], dtype).reshape(entry["shape"]).astype(np.float32)


def compare_words(comparison, gensim, model, files, folder):
    found = words_of_model(model)
    table = read_table(model / "model.safetensors")
    vectors = gensim.models.KeyedVectors(vector_size=table.shape[1])
    vectors.add_vectors([word for word, _ in found], table[[row for _, row in found]])
    path = folder / f"{model.name}.bin"
    vectors.save_word2vec_format(str(path), binary=True)
    for name in ("wordsim353.tsv", "simlex999.txt"):
        got = comparison.run(path, "--similarity", files / name, "--lower")["similarity"][0]
        (r, _), rank, missing = vectors.evaluate_word_pairs(str(files / name))
        what = f"{model.name}, {name}"
        comparison.expect(got["pearson"], r, 1e-6, f"{what}: pearson")
        comparison.expect(got["spearman"], rank[0], 1e-6, f"{what}: spearman")
        comparison.expect(got["covered"], got["pairs"] * (1 - missing / 100), 1e-6, f"{what}: covered pairs")
    questions = folder / "questions.txt"
    lines = (files / "questions-words.txt").read_text().splitlines()
    step = len(lines) // ANALOGIES + 1
    questions.write_text("\n".join(l for i, l in enumerate(lines) if l.startswith(":") or i % step == 0) + "\n")
    got = comparison.run(path, "--analogy", questions, "--lower")["analogies"][0]
    _, sections = vectors.evaluate_word_analogies(str(questions))
    for ours, theirs in zip(got["sections"] + [got["total"]], sections):
        what = f"{model.name}, {theirs['section']}"
        comparison.expect(ours["right"], len(theirs["correct"]), 0, f"{what}: right")
        comparison.expect(ours["asked"], len(theirs["correct"]) + len(theirs["incorrect"]), 0, f"{what}: asked")


def against_gensim(comparison, models):
    try:
        import gensim
    except ImportError:
        skip("this Python has no gensim")
    files = models / "word-files"
    if not files.is_dir():
        skip("no word files: scripts/fetch-models word-files")
    there = [models / name for name in ("all-minilm-l6-v2", "wordllama") if (models / name).is_dir()]
    if not there:
        skip("no models: scripts/fetch-models")
    with tempfile.TemporaryDirectory() as folder:
        for model in there:
            compare_words(comparison, gensim, model, files, pathlib.Path(folder))
    comparison.finish(f"gensim {gensim.__version__}, {len(there)} models")


def main():
    comparison = Comparison(sys.argv[1])
    if sys.argv[2] == "numpy":
        against_numpy(comparison)
    against_gensim(comparison, pathlib.Path(sys.argv[3]))


main()
