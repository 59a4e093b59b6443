#!/usr/bin/env python3
"""Fail when docs/pains.md misses a report, or names a test that is not there; or when a case of tests/cli/pains has no line there.

usage: check_pains.py

Paths of tests that any other page of docs/ names must exist as well.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/pains.md"
REPORTS = {"A": 14, "B": 14, "C": 8, "D": 8, "E": 7, "F": 5, "H": 7, "I": 2, "J": 8}


def paths_in(text):
    return re.findall(r"`(tests/[\w./-]+\.\w+)`", text)


def reports(text):
    """Faults of the tables of reports: each report once, in order, with a test or the word when there will be one."""
    lines = re.findall(r"^\| ([A-Z]\d+) \|(.*)\|$", text, re.M)
    want = [f"{theme}{number}" for theme, count in REPORTS.items() for number in range(1, count + 1)]
    got = [name for name, _ in lines]
    bad = [f"{PAGE}: {name} is missing" for name in want if name not in got]
    bad += [f"{PAGE}: {name} is no report" for name in got if name not in want]
    if not bad and got != want:
        bad.append(f"{PAGE}: reports are out of order, or come twice")
    bad += [f"{PAGE}: {name} has no test" for name, rest in lines if not paths_in(rest) and "*later" not in rest]
    return bad


def main():
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    bad = reports(text)
    for page in sorted((ROOT / "docs").glob("*.md")):
        named = paths_in(page.read_text(encoding="utf-8"))
        bad += [f"docs/{page.name}: {path} is not there" for path in named if not (ROOT / path).is_file()]
    for case in sorted((ROOT / "tests/cli/pains").glob("*.sh")):
        path = case.relative_to(ROOT).as_posix()
        if path not in paths_in(text):
            bad.append(f"{PAGE}: {path} is not named")
        if f"| {case.name.split('_')[0].upper()} |" not in text:
            bad.append(f"{path}: its name begins with no report")
    print("\n".join(bad) or f"reports and tests: ok ({len(paths_in(text))} tests named)")
    sys.exit(1 if bad else 0)


main()
