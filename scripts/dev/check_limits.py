#!/usr/bin/env python3
"""Fail when a page of docs/ and the header it describes disagree.

usage: check_limits.py

docs/limits.md must list every limit of src/base/limits.h with its value, in the same order; docs/errors.md every status of
include/wte/base.h with its number.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def pairs(path, pattern):
    """(name, number) of each match, in order."""
    return [(name, int(number)) for name, number in re.findall(pattern, (ROOT / path).read_text(encoding="utf-8"), re.M)]


def compare(header, header_pattern, page, page_pattern):
    want, got = pairs(header, header_pattern), pairs(page, page_pattern)
    bad = [] if want else [f"{header}: nothing found that {page} could describe"]
    for name, number in want:
        if name not in dict(got):
            bad.append(f"{page}: {name} of {header} is missing")
        elif dict(got)[name] != number:
            bad.append(f"{page}: {name} is {dict(got)[name]} here, but {number} in {header}")
    bad += [f"{page}: {name} is not in {header}" for name, _ in got if name not in dict(want)]
    if not bad and [name for name, _ in want] != [name for name, _ in got]:
        bad.append(f"{page}: in another order than {header}, or listed twice")
    return bad


def main():
    bad = compare("src/base/limits.h", r"^#define (WTE_LIMIT_\w+) (\d+)u$",
                  "docs/limits.md", r"^\| `(WTE_LIMIT_\w+)` \| (\d+) \|")
    bad += compare("include/wte/base.h", r"^ +X\((\w+), (\d+), ",
                   "docs/errors.md", r"^\| `WTE_(\w+)` \| (\d+) \|")
    print("\n".join(bad) or "limits and statuses: ok")
    sys.exit(bool(bad))


main()
