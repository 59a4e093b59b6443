#!/usr/bin/env python3
"""wte logits and wte loss, as programs, against a live NumPy and PyTorch.

    oracle_head.py PROGRAM loss            random tables: losses and both gradients are PyTorch's
    oracle_head.py PROGRAM models FOLDER   fetched models: what a token's own row predicts is NumPy's product of the same rows

Numbers must lie within the roundings of f32 sums of what float64 gives. Exit 0: all agree; 1: some do not (they are printed);
77: no such software, or no models, here.
"""
import io
import json
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
MODELS = {"smollm2-135m": [" Paris", " seven"], "gemma3-270m": [" Paris", " Monday"]}
PIECE = 32768  # rows held as f32 at once


class Checks:
    def __init__(self, program):
        self.program, self.done, self.wrong = program, 0, 0

    def expect(self, right, what):
        self.done += 1
        if not right:
            self.wrong += 1
            print(f"DIFFERENT {what}")

    def run(self, *words, data=None):
        return subprocess.run([self.program, *map(str, words)], input=data, capture_output=True, check=True).stdout

    def facts(self, *words):
        return json.loads(self.run(*words, "--json"))


def rows_of(np, checks, model, ids):
    text = "\n".join(map(str, ids)).encode()
    return np.load(io.BytesIO(checks.run("lookup", model, "--ids", "-", "--dtype", "f32", "--npy", data=text)))


def all_logits(np, checks, model, rows, hidden):
    pieces = [rows_of(np, checks, model, range(at, min(at + PIECE, rows))) for at in range(0, rows, PIECE)]
    return np.concatenate([piece.astype(np.float64) @ hidden for piece in pieces])


def check_model(np, checks, model, token):
    facts = checks.facts("logits", model, "--id", token, "--top", 20)
    answer = facts["answers"][0]
    hidden = (rows_of(np, checks, model, [answer["of_id"]])[0] * np.float32(facts["factor"])).astype(np.float64)
    logits = all_logits(np, checks, model, facts["rows"], hidden)
    bound = 1e-5 * np.abs(logits).max() + 1e-6
    ids = [t["id"] for t in answer["top"]]
    got = np.array([t["logit"] for t in answer["top"]])
    what = f"{model}, token {token!r}"
    checks.expect(facts["padded_rows"] == 0 and facts["chain_why"] == "", f"{what}: a plain product")
    checks.expect(len(set(ids)) == 20 and (np.diff(got) <= 0).all(), f"{what}: order")
    checks.expect(np.abs(got - logits[ids]).max() <= bound, f"{what}: logits")
    checks.expect(np.delete(logits, ids).max() <= got[-1] + bound, f"{what}: a row left out")
    lse = logits.max() + np.log(np.exp(logits - logits.max()).sum())
    checks.expect(abs(answer["lse"] - lse) <= bound, f"{what}: lse {answer['lse']}, not {lse}")
    probability = np.array([t["prob"] for t in answer["top"]])
    checks.expect(np.allclose(probability, np.exp(logits[ids] - lse), rtol=1e-4), f"{what}: probabilities")


def check_models(folder):
    checks = Checks(sys.argv[1])
    import numpy as np
    found = [name for name in MODELS if (folder / name).is_dir()]
    if not found:
        print("skipped: scripts/fetch-models has not run")
        sys.exit(SKIPPED)
    for name in found:
        for token in MODELS[name]:
            check_model(np, checks, folder / name, token)
    return checks


def torch_loss(torch, table, hidden, targets, smoothing, z):
    """The mean loss, its gradients, and the losses one by one."""
    table = torch.tensor(table, dtype=torch.float64, requires_grad=True)
    hidden = torch.tensor(hidden, dtype=torch.float64, requires_grad=True)
    targets = torch.tensor(targets)
    logits = hidden @ table.T
    each = torch.nn.functional.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)
    each = each + z * torch.logsumexp(logits, 1) ** 2 * (targets != -100)
    loss = each.sum() / (targets != -100).sum()
    loss.backward()
    right = (logits.argmax(1) == targets).sum().item()
    return loss.item(), each.detach().numpy(), hidden.grad.numpy(), table.grad.numpy(), right


def check_case(np, torch, checks, shape, smoothing, z):
    rows, dim, n = shape
    random = np.random.RandomState(rows)
    table = random.normal(size=(rows, dim)).astype(np.float32)
    hidden = random.normal(size=(n, dim)).astype(np.float32)
    targets = random.randint(0, rows, n)
    targets[::5] = -100
    for name, array in (("table", table), ("hidden", hidden), ("targets", targets)):
        np.save(f"{name}.npy", array)
    facts = checks.facts("loss", "table.npy", "--hidden", "hidden.npy", "--targets", "targets.npy", "--each", "--d-hidden",
                         "dh.npy", "--d-table", "dt.npy", "--label-smoothing", smoothing, "--z-loss", z)
    loss, each, d_hidden, d_table, right = torch_loss(torch, table, hidden, targets, smoothing, z)
    what = f"loss of {n} targets, {rows} x {dim}, smoothing {smoothing}, z {z}"
    checks.expect(abs(facts["loss"] - loss) <= 1e-5 * abs(loss), f"{what}: {facts['loss']}, not {loss}")
    checks.expect(np.allclose(facts["each"], each, rtol=1e-5, atol=1e-5), f"{what}: each")
    checks.expect(facts["right"] == right and facts["taken"] == (targets != -100).sum(), f"{what}: counts")
    for name, got, want in (("d hidden", "dh.npy", d_hidden), ("d table", "dt.npy", d_table)):
        difference = np.abs(np.load(got) - want).max()
        checks.expect(difference <= 1e-5 * np.abs(want).max(), f"{what}: {name} differs by {difference}")


def check_loss():
    checks = Checks(str(pathlib.Path(sys.argv[1]).resolve()))
    import os
    import numpy as np
    import torch
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        for shape in ((7, 3, 11), (1000, 64, 50), (5003, 100, 130)):
            for smoothing, z in ((0, 0), (0.1, 0), (0, 0.01), (0.2, 0.001)):
                check_case(np, torch, checks, shape, smoothing, z)
        os.chdir("/")
    return checks


def main():
    try:
        checks = check_models(pathlib.Path(sys.argv[3])) if sys.argv[2] == "models" else check_loss()
    except ImportError as missing:
        print(f"skipped: this Python has no {missing.name}")
        sys.exit(SKIPPED)
    print(f"{checks.done} comparisons, {checks.wrong} different")
    sys.exit(checks.wrong != 0)


main()
