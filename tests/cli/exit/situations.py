"""Every command in every situation of cli/situations.def that it can be in: exit code, words on stderr, nothing on stdout.

usage: situations.py SITUATIONS.DEF   (with wte in PATH)
"""
import json
import os
import pathlib
import re
import resource
import socket
import struct
import subprocess
import sys
import zipfile

CODES = {"DONE": 0, "NO": 1, "USAGE": 2, "INPUT": 3, "CANNOT": 4, "OUTPUT": 5}
faults, tried = [], set()

# What each command does its work with; M is a model of 6 rows and 3 columns with a tokenizer.
WORDS = {
    "lookup": ["M", "3"], "trace": ["M", "3"], "near": ["M", "3"], "diagnose": ["M", "--id", "3", "--observed", "1,2,3"],
    "logits": ["M", "--hidden", "1,2,3"], "loss": ["M", "--hidden", "1,2,3", "--targets", "target"], "check": ["M"],
    "inspect": ["M"], "tied": ["M"], "diff": ["M", "M"], "eval": ["M", "--pairs", "10", "--isotropy"],
    "gradcheck": ["M", "3", "1"], "train": ["text", "-o", "trained", "--dim", "2", "--min-count", "1", "--threads", "1"],
    "new": ["--rows", "2", "--dim", "2", "-o", "made.npy"], "bench": ["--only", "fma", "--seconds", "0", "--memory", "16"],
    "help": [], "version": [],
}
ANSWERS_NO = {"diagnose", "tied"}
FILES = {  # options and words that name an input, with what else is needed
    "lookup": [["M", "--ids", "F"]],
    "near": [["M", "--vector", "F"]],
    "diagnose": [["M", "--id", "3", "--observed", "F"], ["M", "--ids", "F", "--observed", "1,2,3"]],
    "logits": [["M", "--hidden", "F"], ["M", "--hidden", "1,2,3", "--ids", "F"]],
    "loss": [["M", "--hidden", "F", "--targets", "target"], ["M", "--hidden", "1,2,3", "--targets", "F"]],
    "check": [["M", "--baseline", "F"], ["M", "--template", "F"]],
    "gradcheck": [["M", "--ids", "F"], ["M", "3", "--targets", "F"]],
    "eval": [["M", "--similarity", "F"], ["M", "--analogy", "F"]],
    "train": [["F", "-o", "trained"]],
    "bench": [["--compare", "F"]],
}
IDS = [("lookup", ["M", "--ids", "F"]), ("diagnose", ["M", "--ids", "F", "--observed", "rows.npy"]),
       ("logits", ["M", "--hidden", "1,2,3", "--ids", "F"]), ("loss", ["M", "--hidden", "1,2,3", "--targets", "F"]),
       ("gradcheck", ["M", "--ids", "F"]), ("gradcheck", ["M", "3", "--targets", "F"])]


def table(path, name="model.embed_tokens.weight", rows=6, cols=3, length=None):
    head = json.dumps({name: {"dtype": "F32", "shape": [rows, cols], "data_offsets": [0, rows * cols * 4]}}).encode()
    numbers = [((i * 5 + 3) % 7 - 3) / 2 + i / 16 for i in range(rows * cols)]
    pathlib.Path(path).write_bytes(struct.pack("<Q", length or len(head)) + head + struct.pack(f"<{len(numbers)}f", *numbers))


def npy(path, shape, numbers):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    pathlib.Path(path).write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() +
                                   struct.pack(f"<{len(numbers)}f", *numbers))


def make():
    folder = pathlib.Path("model")
    folder.mkdir()
    table(folder / "model.safetensors")
    words = ["a", "b", "c", "d", "e", "f"]
    (folder / "tokenizer.json").write_text(json.dumps({"version": "1.0", "added_tokens": [], "model": {
        "type": "BPE", "vocab": {t: i for i, t in enumerate(words)}, "merges": []}}), encoding="utf-8")
    table("narrow.safetensors", cols=2)
    pathlib.Path("target").write_text("3\n", encoding="utf-8")
    pathlib.Path("text").write_text("a b a b a b\n" * 20, encoding="utf-8")
    pathlib.Path("ids99").write_text("1 99\n", encoding="utf-8")
    pathlib.Path("idsx").write_text("1 x\n", encoding="utf-8")
    pathlib.Path("empty").write_bytes(b"")
    npy("rows.npy", "(2, 3)", [1, 2, 3, 4, 5, 6])
    npy("narrow.npy", "(1, 2)", [1, 2])
    pathlib.Path("cut.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:100])
    pathlib.Path("cut.npy").write_bytes(pathlib.Path("rows.npy").read_bytes()[:-1])
    table("long.safetensors", length=150_000_000)
    os.truncate("long.safetensors", 200_000_000)
    with zipfile.ZipFile("unsupported.pt", "w") as z:
        z.writestr("archive/data.pkl", b"\x80\x02cos\nsystem\nq\x00.")
    os.mkdir("folder")
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("socket")


def run(situation, command, words, quiet=False, **how):
    done = subprocess.run(["wte", command, *words], stdin=subprocess.DEVNULL, capture_output="stdout" not in how,
                          stderr=subprocess.PIPE if "stdout" in how else None, check=False, **how)
    tried.add(situation)
    wanted = CODES[TABLE[situation]]
    line = f"{situation}: wte {command} {' '.join(words)}: exit {done.returncode}, expected {wanted}"
    if done.returncode != wanted:
        faults.append(f"{line}: {(done.stderr or b'').decode().strip()[:200]}")
    elif wanted > 1 and not done.stderr.endswith(b"\n"):
        faults.append(f"{line}, but says nothing")
    elif wanted > 1 and done.stdout and not quiet:
        faults.append(f"{line}, but prints {done.stdout[:60]!r}")


def with_model(words, model):
    return [model if w == "M" else w for w in words]


def options_of(command):
    text = subprocess.run(["wte", command, "--help"], capture_output=True, check=True, text=True).stdout
    return set(re.findall(r"^  (?:-.,|   ) (--[a-z-]+)", text, re.M))


def usage(command, words):
    options = options_of(command)
    run("NO_OPTION", command, [*words, "--no-such-option"])
    run("EMPTY_WORD", command, [""])
    if "--threads" in options:
        others = [w for i, w in enumerate(words) if w != "--threads" and (not i or words[i - 1] != "--threads")]
        run("BAD_VALUE", command, [*others, "--threads", "x"])
        run("BAD_VALUE", command, [*others, "--threads", "0"])
        run("BAD_VALUE", command, [*others, "--threads"])
        run("LIMIT", command, [*others, "--threads", "257"])
    if "--tensor" in options:
        run("TYPED_NAME", command, [*words, "--tensor", "no.such.tensor"])
        run("EMPTY_WORD", command, [*words, "--tensor", ""])
    if command not in ("help", "version", "bench"):
        run("FEW_WORDS", command, [])
    if command not in ("lookup", "near", "trace", "gradcheck", "tied"):
        run("MANY_WORDS", command, [*words, "extra", "extra", "extra"])


def models(command, words):
    for situation, name in (("NO_FILE", "no-such-file"), ("CUT_FILE", "cut.safetensors"), ("EMPTY_FILE", "empty"),
                            ("NOT_A_FILE", "fifo"), ("NOT_A_FILE", "socket"), ("UNSUPPORTED", "unsupported.pt"),
                            ("LIMIT", "long.safetensors"), ("NO_FILE", "folder")):
        run(situation, command, with_model(words, name))


def inputs(command, words):
    for situation, name in (("NO_FILE", "no-such-file"), ("NOT_A_FILE", "folder"), ("NOT_A_FILE", "socket"),
                            ("NO_FILE", "folder/no-such-file"), ("NO_FILE", "text/below")):
        run(situation, command, [name if w == "F" else w for w in with_model(words, "model")])


def outputs(command, words):
    run("OUT_CLOSED", command, words, preexec_fn=lambda: os.close(1), stdout=None)
    with open("/dev/full", "wb") as full:
        run("OUT_FULL", command, words, stdout=full)


def typed():
    for command, words in (("lookup", ["model", "99"]), ("lookup", ["model", "-1"]), ("trace", ["model", "99"]),
                           ("near", ["model", "99"]), ("diagnose", ["model", "--id", "99", "--observed", "1,2,3"]),
                           ("logits", ["model", "--id", "99"]), ("gradcheck", ["model", "99"]),
                           ("logits", ["model", "--hidden", "1,2,3", "--ids", "99"]),
                           ("gradcheck", ["model", "3", "--targets", "99"])):
        run("TYPED_ID", command, words, quiet=command == "diagnose")
    for command, words in (("lookup", ["model", "nobody"]), ("trace", ["model", "nobody"]), ("near", ["model", "nobody"]),
                           ("logits", ["model", "--id", "nobody"]), ("check", ["model", "--tokens", "nobody"]),
                           ("diagnose", ["model", "--id", "nobody", "--observed", "1,2,3"]), ("gradcheck", ["model", "nobody"])):
        run("TYPED_TOKEN", command, words)
    for command, words in (("logits", ["model", "--hidden", "1,2"]), ("logits", ["model", "--hidden", "1,2,1e39"]),
                           ("loss", ["model", "--hidden", "1,2", "--targets", "target"]), ("near", ["model", "--vector", "1,2"]),
                           ("diagnose", ["model", "--id", "3", "--observed", "1,2"]),
                           ("gradcheck", ["model", "3", "--op", "lookup", "--d-out", "1,2"])):
        run("TYPED_SHAPE", command, words)
    for command, words in (("logits", ["model", "--hidden", "1,,3"]), ("near", ["model", "--vector", "1,,3"]),
                           ("logits", ["model", "--hidden", "1,2,3", "--ids", "1,,2"]), ("check", ["model", "--only", ","]),
                           ("diagnose", ["model", "--id", "3", "--observed", "1,,3"]), ("gradcheck", ["model", "3", "--targets", "1,,2"])):
        run("EMPTY_FIELD", command, words)
    run("LIMIT", "logits", ["model", "--hidden", "1,2,3", "--top", "65537"])
    run("LIMIT", "train", ["text", "-o", "trained", "--min-count", "1", "--window", "65"])
    run("LIMIT", "train", ["text", "-o", "trained", "--min-count", "1", "--dim", "65537"])
    run("LIMIT", "train", ["text", "-o", "trained", "--method", "lm", "--min-count", "1", "--context", "1025"])
    run("LIMIT", "gradcheck", ["model", *["3"] * 257])
    run("LIMIT", "new", ["--rows", "4611686018427387904", "--dim", "4", "-o", "made.npy"])
    run("NO_COMMAND", "no-such-command", [])
    run("BAD_VALUE", "new", ["--rows", "x", "--dim", "2", "-o", "made.npy"])
    run("BAD_VALUE", "near", ["model", "3", "--metric", "far"])


def files():
    for command, words in IDS:
        for name in ("ids99", "idsx"):
            run("FILE_ID", command, [name if w == "F" else w for w in with_model(words, "model")])
    for command, words in (("logits", ["model", "--hidden", "narrow.npy"]), ("near", ["model", "--vector", "narrow.npy"]),
                           ("loss", ["model", "--hidden", "narrow.npy", "--targets", "target"]),
                           ("diagnose", ["model", "--id", "3", "--observed", "narrow.npy"]),
                           ("diff", ["model", "narrow.safetensors"]),
                           ("loss", ["model", "--hidden", "rows.npy", "--targets", "target"])):
        run("FILE_SHAPE", command, words)
    for command, words in (("logits", ["model", "--hidden", "cut.npy"]), ("lookup", ["model", "--ids", "cut.npy"])):
        run("CUT_FILE", command, words)


def outputs_refused():
    for command, words in (("lookup", ["model", "3", "--npy"]), ("logits", ["model", "--hidden", "1,2,3"]),
                           ("new", ["--rows", "2", "--dim", "2"]), ("train", ["text", "--min-count", "1", "--dim", "2"])):
        run("OUT_REFUSED", command, [*words, "-o", "no/such/folder/x.npy"], quiet=True)


def no_memory():
    if '"sanitizer": "' in subprocess.run(["wte", "version", "--json"], capture_output=True, check=True, text=True).stdout:
        tried.add("NO_MEMORY")  # sanitizers take what they want for themselves
        return
    few = 64 << 20
    run("NO_MEMORY", "new", ["--rows", "100000", "--dim", "1000", "-o", "made.npy"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (few, few)))


def main():
    make()
    commands = subprocess.run(["wte", "help", "--list"], capture_output=True, check=True, text=True).stdout.split()
    for command in commands:
        if command not in WORDS:
            faults.append(f"{command}: no line in this test")
            continue
        words = with_model(WORDS[command], "model")
        run("ANSWER_NO" if command in ANSWERS_NO else "DONE", command, words)
        usage(command, words)
        if "M" in WORDS[command]:
            models(command, WORDS[command])
        for more in FILES.get(command, []):
            inputs(command, more)
        outputs(command, words)
    typed()
    files()
    outputs_refused()
    no_memory()
    elsewhere = {"SHRUNK"}  # tests/cli/hostile/a_file_that_shrinks_ends_the_command
    faults.extend(f"{s}: nothing here comes into this situation" for s in TABLE if s not in tried | elsewhere)
    print("\n".join(faults) if faults else f"{len(commands)} commands, {len(TABLE)} situations: as the table says")


TABLE = dict(re.findall(r"^SITUATION\((\w+), +(\w+),", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), re.M))
main()
