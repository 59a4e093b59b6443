#!/usr/bin/env python3
"""Compare two files of benchmark lines.

    compare.py OLD NEW

Prints the cases whose median time changed by more than 3 % and beyond the noise: the quarters of the two runs must not
overlap. Exit 1 when one of them became slower.
"""
import json
import sys

CHANGE = 0.03


def cases(path):
    """The lines that carry quarters, by bench and case; of equal ones the last counts."""
    found = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            if line.startswith("{"):
                result = json.loads(line)
                if "ns_quarters" in result:
                    found[result["bench"], result["case"]] = result
    return found


def verdict(old, new):
    """'' when nothing can be said, else 'slower' or 'faster'."""
    if new["ns"] > old["ns"] * (1 + CHANGE) and new["ns_quarters"][0] > old["ns_quarters"][1]:
        return "slower"
    if new["ns"] < old["ns"] * (1 - CHANGE) and new["ns_quarters"][1] < old["ns_quarters"][0]:
        return "faster"
    return ""


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    old, new = cases(sys.argv[1]), cases(sys.argv[2])
    changes = {case: verdict(old[case], new[case]) for case in sorted(old.keys() & new.keys())}
    for case, change in changes.items():
        if change:
            before, after = old[case]["ns"], new[case]["ns"]
            print(f"{change} {100 * (after / before - 1):+6.1f} %  {before} -> {after} ns  {case[0]}: {case[1]}")
    for case in sorted(old.keys() ^ new.keys()):
        print(f"only in {'OLD' if case in old else 'NEW'}: {case[0]}: {case[1]}")
    quiet = sum(not change for change in changes.values())
    print(f"{len(changes)} cases in both, {quiet} of them unchanged or within the noise")
    sys.exit("slower" in changes.values())


main()
