"""Make models with hostile names, run what `wte check` prints as their repairs, and look at what was done.

usage: repairs.py   (with wte in PATH)
"""
import json
import os
import pathlib
import shutil
import struct
import subprocess

NAMES = [b"plain", b"-n", b"--help", b"a b", b"it's", b'q"q', b"tab\tname", b"new\nline", b"a?b", b"a*b", b"$(touch x)", b"`touch y`",
         b"back\\slash", b"%s%n", b"esc\x1b[31m", b"\xff\xfe", "\u202eabc".encode(), "t\u00ad\u200b".encode(), "\U000e0041".encode(), b"~",
         b"!x", b";x", b"a&b", b"<a>", b"#a", b"'", b"-\t'", b"\xc2\x9b", b"q'\tq", b"x" * 180 + b"'" * 50]
TABLE = b"model.embed_tokens.weight"
faults = []

TOOL = """#!/usr/bin/python3
import json, os, sys
words = [os.fsencode(w).hex() for w in sys.argv]
with open(os.environ["RECORD"], "a") as f:
    f.write(json.dumps(words) + "\\n")
if sys.argv[0].endswith("/jq"):
    key, value = sys.argv[1].split(" = ")
    data = json.load(open(os.fsencode(sys.argv[2]), encoding="utf-8"))
    data[key[1:]] = json.loads(value)
    print(json.dumps(data))
"""


def model(folder, table=TABLE, rows=8):
    os.mkdir(folder)
    numbers = [[(i * 7 + j * 3) % 11 - 5.0 for j in range(4)] for i in range(rows)]
    numbers[3] = [float("nan")] * 4
    head = json.dumps({os.fsdecode(table): {"dtype": "F32", "shape": [rows, 4], "data_offsets": [0, rows * 16]}}).encode()
    with open(folder + b"/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(head)) + head)
        for row in numbers:
            file.write(struct.pack("<4f", *row))
    with open(folder + b"/config.json", "w", encoding="utf-8") as file:
        json.dump({"model_type": "llama", "architectures": ["LlamaForCausalLM"], "vocab_size": rows - 1, "hidden_size": 4,
                   "tie_word_embeddings": True}, file)


def snapshot():
    return {p: pathlib.Path(os.fsdecode(p)).read_bytes() for folder, _, names in os.walk(b".") for p in
            (os.path.join(folder, n) for n in names) if not p.startswith((b"./tools", b"./record"))}


def check(path):
    plain = subprocess.run([b"wte", b"check", b"--", path], capture_output=True, check=False)
    found = subprocess.run([b"wte", b"check", b"--json", b"--", path], capture_output=True, check=False)
    if found.returncode > 1:
        faults.append(f"{path!r}: exit {found.returncode}: {found.stderr!r}")
        return []
    repairs = [f["repair"] for f in json.loads(found.stdout)["findings"] if f["repair"]]
    printed = [line[11:] for line in plain.stdout.decode().split("\n") if line.startswith("    repair ")]
    if printed != repairs:
        faults.append(f"{path!r}: printed {printed} but JSON has {repairs}")
    return repairs


def run(repair):
    """The words that the tools were given; each list begins with the tool."""
    open("record", "w", encoding="utf-8").close()
    env = os.environ | {"PATH": os.path.abspath("tools") + ":" + os.environ["PATH"], "RECORD": os.path.abspath("record")}
    done = subprocess.run(["sh", "-c", repair], env=env, capture_output=True, check=False)
    if done.returncode and not repair.startswith("wte check"):
        faults.append(f"{repair!r}: exit {done.returncode}: {done.stderr!r}")
    with open("record", encoding="utf-8") as file:
        return [[bytes.fromhex(w) for w in json.loads(line)] for line in file]


def same(path, given):
    return os.path.normpath(given) == os.path.normpath(path)


def in_folder(name):
    """Repairs of the folder's config, and of its table by the folder's name; a stray file beside the weights."""
    model(name)
    stray = name + b"/" + (b"other" if name.startswith(b"x") else name) + b".safetensors"
    shutil.copy(name + b"/model.safetensors", stray)
    kinds = set()
    for repair in check(name):
        before = snapshot()
        words = run(repair)
        after = snapshot()
        changed = {p for p in before.keys() | after.keys() if before.get(p) != after.get(p)}
        tool = repair.split(" ")[0]
        kinds.add(tool)
        if tool == "jq":
            wanted = {b"./" + name + b"/config.json"}
            right = same(name + b"/config.json", words[0][2])
        elif tool == "mv":
            wanted = {b"./" + stray, b"./" + stray + b".aside"}
            right = not words
        elif tool == "python3":
            wanted = set()
            right = same(name, words[0][3]) and same(name + b"-fixed", words[0][4])
        else:
            wanted, right = set(), True
        if changed != wanted or not right:
            faults.append(f"{name!r}: {repair!r} changed {changed}, with {words}")
    if not {"jq", "mv", "python3"} <= kinds:
        faults.append(f"{name!r}: only {kinds} among its repairs")


def one_file(name):
    """A file of that name without a config: the repair takes the file and the name of the tensor."""
    table = b"model.%s.embed_tokens.weight" % name if b"\xff" not in name and b"\x9b" not in name else TABLE
    folder = b"of " + name
    model(folder, table)
    os.unlink(folder + b"/config.json")
    path = name + b".safetensors"
    os.rename(folder + b"/model.safetensors", path)
    os.rmdir(folder)
    for repair in check(path):
        words = run(repair)
        if repair.startswith("python3") and not (same(path, words[0][3]) and words[0][5] == table):
            faults.append(f"{path!r}: {repair!r} was given {words}")


def main():
    os.mkdir("tools")
    for tool in ("jq", "python3", "huggingface-cli"):
        path = pathlib.Path("tools") / tool
        path.write_text(TOOL, encoding="utf-8")
        path.chmod(0o755)
    for name in NAMES:
        in_folder(name)
        one_file(name)
    # what cannot be said in one line gets no repair; the rest of the report is as ever
    model(b"ends\n")
    for repair in check(b"ends\n"):
        if "ends" in repair and "jq" not in repair:
            run(repair)
    # a name of 4,000 bytes that are four each when they are quoted: nothing is cut
    deep = b"/".join([b"'" * 250] * 15)
    os.makedirs(os.path.dirname(deep))
    model(deep)
    for repair in check(deep):
        words = run(repair)
        if repair.startswith("jq") and not same(deep + b"/config.json", words[0][2]):
            faults.append(f"a deep folder: {len(repair)} bytes of repair, with {words[0][2][:80]!r}")
    print("\n".join(faults) if faults else f"repairs of {len(NAMES)} names: each took the very file")


main()
