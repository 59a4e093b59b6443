#!/usr/bin/env python3
"""README's C code must be the part of examples/quickstart.c between its two marker comments, line for line.

usage: check_readme.py
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "/* README begins */", "/* README ends */"


def marked_part(path):
    lines = path.read_text().splitlines()
    places = [[i for i, line in enumerate(lines) if line.strip() == mark] for mark in (BEGIN, END)]
    if [len(p) for p in places] != [1, 1] or places[0] > places[1]:
        sys.exit(f"{path.name}: wants exactly one '{BEGIN}' and, after it, one '{END}'")
    return textwrap.dedent("\n".join(lines[places[0][0] + 1:places[1][0]]))


def main():
    want = marked_part(ROOT / "examples/quickstart.c").strip("\n").splitlines()
    readme = (ROOT / "README.md").read_text()
    blocks = re.findall(r"^```c\n(.*?)^```$", readme, re.M | re.S)
    if len(blocks) != 1:
        sys.exit(f"README.md: {len(blocks)} blocks of C, not one")
    got = blocks[0].strip("\n").splitlines()
    for i, (a, b) in enumerate(zip(got + [None] * len(want), want + [None] * len(got))):
        if a != b:
            sys.exit(f"README.md, line {i + 1} of the C code:\n  README:     {a}\n  quickstart: {b}")
    # Every file that README or docs link to must be there.
    bad = []
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not (page.parent / target).exists():
                bad.append(f"{page.relative_to(ROOT)}: link to {target}, which is not there")
    print("\n".join(bad) or "readme: ok")
    sys.exit(bool(bad))


main()
