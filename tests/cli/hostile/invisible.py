"""Make models whose names hold every invisible character, run commands on them, and look at what they print.

usage: invisible.py   (with wte in PATH)
"""
import json
import os
import pathlib
import signal
import struct
import subprocess
import time
import unicodedata

SPACES = [c for c in range(0x80, 0x110000) if unicodedata.category(chr(c)) in ("Zs", "Zl", "Zp")]
IGNORABLE = [0xAD, 0x34F, 0x61C, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), *range(0x200B, 0x2010),
             *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0x2800, 0x3164, *range(0xFE00, 0xFE10), 0xFEFF, 0xFFA0,
             *range(0xFFF0, 0xFFFC), *range(0x1BCA0, 0x1BCA4), *range(0x1D173, 0x1D17B), *range(0xE0000, 0xE0080),
             *range(0xE0100, 0xE01F0), 0xE0FFF]
CONTROLS = [*range(1, 0x20), *range(0x7F, 0xA0)]
HIDDEN = sorted({*SPACES, *IGNORABLE, *CONTROLS})
SHOWN = [0x20, 0x7E, 0xA1, 0x2010, 0x2581, 0x4F60, 0x1F600, 0x1F1E6]
forbidden = {chr(c) for c in HIDDEN} - {"\n"}
faults = []


def table(path, names, rows):
    head, at = {}, 0
    for name in names:
        head[name] = {"dtype": "F32", "shape": [rows, 2], "data_offsets": [at, at + rows * 8]}
        at += rows * 8
    text = json.dumps(head).encode()
    numbers = b"".join(struct.pack("<2f", i % 7 - 3, i % 5 + 1) for i in range(rows)) * len(names)
    path.write_bytes(struct.pack("<Q", len(text)) + text + numbers)


def look(words, raw, stream):
    text = raw.decode("utf-8", "surrogateescape")
    for c in sorted({c for c in text if c in forbidden or 0xDC80 <= ord(c) <= 0xDCFF}):
        faults.append(f"{' '.join(words[:2])}: U+{ord(c):04X} on {stream}")


def run(*words, **more):
    done = subprocess.run(["wte", *words], capture_output=True, check=False, **more)
    look(words, done.stdout, "stdout")
    look(words, done.stderr, "stderr")
    if done.returncode < 0 or done.returncode > 5:
        faults.append(f"{words[0]}: exit {done.returncode}")
    return done.stdout


def main():
    tokens = ["king" + chr(c) for c in HIDDEN + SHOWN]
    folder = pathlib.Path("m\u202e\u00ad\u2800\U000e0041x")
    folder.mkdir()
    table(folder / "model.safetensors", ["model.embed_tokens.weight", "lm_head.weight", "other\u3164\ufe0f.weight"],
          len(tokens))
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["A\u180eForCausalLM"], "model_type": "x\u115f", "vocab_size": len(tokens) + 3,
        "hidden_size": 2, "tie_word_embeddings": True, "pad_token_id": 3}), encoding="utf-8")
    (folder / "tokenizer.json").write_text(json.dumps({
        "version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {t: i for i, t in enumerate(tokens)},
                                                        "merges": []}}), encoding="utf-8")
    name, ids = str(folder), [str(i) for i in range(len(tokens))]
    got = json.loads(run("lookup", name, "--json", *ids))
    for row, token in zip(got["lookups"], tokens):
        if row["token"] != token:
            faults.append(f"token {row['id']} is {ascii(row['token'])} in JSON, not {ascii(token)}")
    shown = run("lookup", name, *ids[-len(SHOWN):]).decode()
    for c in SHOWN:
        if f'"king{chr(c)}"' not in shown:
            faults.append(f"U+{c:04X} is not shown as it is")
    for json_too in ([], ["--json"]):
        run("lookup", name, "--full", *ids, *json_too)
        for command in ("inspect", "check", "tied"):
            run(command, name, *json_too)
        run("inspect", name, "--all", *json_too)
        run("inspect", name, "--candidates", *json_too)
        for word in ("3", "king\u00ad", "king\u00adx", "\U000e0041", "nobody\u202e", "−1\u200b"):
            run("trace", name, word, *json_too)
            run("lookup", name, word, *json_too)
            run("near", name, word, "--top", "5", *json_too)
        run("diff", name, name, "--by-token", *json_too)
        run("logits", name, "--hidden", "1,2", "--top", str(len(tokens)), "--raw", *json_too)
        run("diagnose", name, "--id", "5", "--observed", "1,2", *json_too)
        run("lookup", name + "\u2800", "3", *json_too)
        run("lookup", name, "3", "--tensor", "other\u3164", *json_too)
        run("lookup", name, "3", "--no\u200bthing", "--dtype", "f\u200b", *json_too)
        run("lookup", name, "3", "--dtype", "f\u200b", *json_too)
        run("help", "look\u200bup")
        run("look\u200bup")
    # a broken file tells what it met
    (folder / "tokenizer.json").write_text('{"version": "1.0\u2800", "model": {"vocab": {"a\u00ad": -1}}}', encoding="utf-8")
    run("lookup", name, "x")
    run("check", name)
    shrunk(name)
    print("\n".join(faults) if faults else f"{len(HIDDEN)} characters in {len(tokens)} tokens: none is printed")


def shrunk(name):
    """What the handler says when a mapped file is cut: sent its signal while it waits for ids."""
    path = os.fsencode(name) + b"/\x9b\xc2\x9b\xe2\x80\xae\x1b[31m.safetensors"
    with open(os.fsencode(name) + b"/model.safetensors", "rb") as file, open(path, "wb") as copy:
        copy.write(file.read())
    with subprocess.Popen([b"wte", b"lookup", path, b"--ids", b"-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as child:
        while child.poll() is None and "pipe" not in pathlib.Path(f"/proc/{child.pid}/wchan").read_text():
            time.sleep(0.01)
        child.send_signal(signal.SIGBUS)
        said = child.communicate()[1]
    look(["SIGBUS", ""], said, "stderr")
    if child.returncode != 3 or rb"\x9b\xc2\x9b\xe2\x80\xae\x1b[31m.safetensors" not in said:
        faults.append(f"SIGBUS: exit {child.returncode}: {said!r}")


main()
