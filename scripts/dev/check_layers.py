#!/usr/bin/env python3
"""Fail when a room includes, or links to, a room that its line in layers.txt does not name.

usage: check_layers.py [BUILD_DIRECTORY]

Without an argument the sources are read: src/<room>/, and the programs (cli/, examples/), which may include public
headers and their own folder only. With a build directory the objects are read too, with nm.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# public headers not named for their room
HEADER_ROOM = {
    "bag": "lookup", "block": "num", "check": "inspect", "corpus": "train", "dtype": "num", "eval": "train", "grad": "optim",
    "gradcheck": "train", "lm": "train", "near": "inspect", "row_source": "num", "wte": "core", "rowwise": "num", "wordvec": "train",
}
PROGRAMS = ("cli", "examples", "server")


def read_rules():
    may = {}
    for line in (ROOT / "scripts/dev/layers.txt").read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            room, _, deps = line.partition(":")
            late = [d for d in deps.split() if d not in may]
            if late:
                sys.exit(f"layers.txt: {room} names {late}, which come later")
            may[room] = set(deps.split())
    return may


def includes(path):
    for number, text in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*["<]([^">]+)[">]', text)
        if match:
            yield number, match[1]


def check_rooms(may):
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        room = path.relative_to(ROOT / "src").parts[0]
        if room not in may:
            yield f"{path.relative_to(ROOT)}:1: folder '{room}' is no room of layers.txt"
            continue
        for number, name in includes(path):
            first, _, rest = name.partition("/")
            other = first
            if first == "wte":
                stem = rest.removesuffix(".h")
                other = HEADER_ROOM.get(stem, stem)
                if other not in may and stem != "all":
                    yield f"{path.relative_to(ROOT)}:{number}: nothing says which room <{name}> belongs to"
            if other in may and other != room and other not in may[room]:
                yield f"{path.relative_to(ROOT)}:{number}: room '{room}' may not include room '{other}'"


def check_programs(may):
    for program in PROGRAMS:
        folder = ROOT / program
        for path in sorted(folder.rglob("*.[ch]")) if folder.is_dir() else []:
            for number, name in includes(path):
                if name.partition("/")[0] in may:
                    yield f"{path.relative_to(ROOT)}:{number}: program '{program}' may include public headers only, not {name}"


def symbols(obj, flag):
    out = subprocess.run(["nm", "-P", flag, str(obj)], capture_output=True, text=True, check=True).stdout
    return {line.split()[0] for line in out.splitlines() if line.strip()}


def check_objects(may, build):
    home, want = {}, []
    for obj in sorted(pathlib.Path(build).rglob("wte_objects.dir/src/*/*.o")):
        room = obj.parent.name
        home.update({s: room for s in symbols(obj, "--defined-only")})
        want.append((room, obj, symbols(obj, "--undefined-only")))
    if not want:
        yield f"no objects below {build}"
    for room, obj, names in want:
        for s in sorted(names):
            if s in home and home[s] != room and home[s] not in may[room]:
                yield f"{obj.name}: room '{room}' links to {s} of room '{home[s]}'"


def main():
    may = read_rules()
    bad = list(check_rooms(may)) + list(check_programs(may))
    if len(sys.argv) > 1:
        bad += check_objects(may, sys.argv[1])
    print("\n".join(bad) or "layers: ok")
    sys.exit(bool(bad))


main()
