#!/usr/bin/env python3
"""Fail when docs/errors.md and cli/situations.def disagree; --accept writes the page's table anew.

usage: check_situations.py [--accept]

The table of situations is made from SITUATION lines; the last column of the table of statuses must say what the STATUS line of
its status says: one code, or the codes of what was typed, of input and of output.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CODES = {"DONE": 0, "NO": 1, "USAGE": 2, "INPUT": 3, "CANNOT": 4, "OUTPUT": 5}
BEGIN, END = "<!-- made from cli/situations.def by scripts/dev/check_situations.py --accept -->\n", "<!-- end -->"


def table(definitions):
    lines = ["| what happened | exit code |", "| --- | --- |"]
    for name, code, text in re.findall(r"^SITUATION\((\w+), +(\w+), +\"(.*)\"\)$", definitions, re.M):
        if code not in CODES:
            sys.exit(f"cli/situations.def: {name}: no code {code}")
        lines.append(f"| {text} | {CODES[code]} |")
    return "\n".join(lines) + "\n"


def statuses(definitions, page):
    """Where the page's column of exit codes says other than the table does."""
    for name, *codes in re.findall(r"^STATUS\((\w+), +(\w+), +(\w+), +(\w+)\)$", definitions, re.M):
        typed, given, output = (CODES[c] for c in codes)
        told = re.search(rf"^\| `WTE_{name}` .*\| ([^|]*) \|$", page, re.M)
        want = {f"{given}"} if typed == given else {f"{typed} typed, {given} from input"}
        if given != output and typed == given:
            want.add(f"{given} input, {output} output")
        if not told or told[1] not in want:
            yield f"docs/errors.md: the exit code of {name} is '{told[1] if told else ''}', not {' or '.join(sorted(want))}"


def main():
    definitions = (ROOT / "cli/situations.def").read_text(encoding="utf-8")
    path = ROOT / "docs/errors.md"
    page = path.read_text(encoding="utf-8")
    before, rest = page.split(BEGIN)
    _, after = rest.split(END, 1)
    made = before + BEGIN + table(definitions) + END + after
    if "--accept" in sys.argv[1:]:
        path.write_text(made, encoding="utf-8")
    bad = list(statuses(definitions, made))
    if made != page and "--accept" not in sys.argv[1:]:
        bad.append("docs/errors.md: the table of situations is not that of cli/situations.def (check_situations.py --accept)")
    print("\n".join(bad) or "situations: ok")
    sys.exit(bool(bad))


main()
