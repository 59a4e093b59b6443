#!/usr/bin/env python3
"""Join the tests of several builds into one ctest run, so that one closing line counts them all.

usage: join_tests.py OUTPUT_DIRECTORY BUILD_DIRECTORY...

Writes OUTPUT_DIRECTORY/CTestTestfile.cmake. ctest could include the builds' own files, but tests of one name
would then share their properties; here each gets its build's name in front: asan/unit.json.
"""
import json
import pathlib
import subprocess
import sys


def quoted(text):
    level = "="
    while f"]{level}]" in text:
        level += "="
    return f"[{level}[{text}]{level}]"


def value_text(value):
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, list):
        return ";".join(str(v).replace(";", "\\;") for v in value)
    return str(value)


def tests_of(build):
    out = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"], capture_output=True, check=True)
    for test in json.loads(out.stdout)["tests"]:
        if "command" not in test:
            sys.exit(f"join_tests: {build.name}: test {test['name']} has no program: it was not built")
        name = quoted(f"{build.name}/{test['name']}")
        yield f"add_test({name} {' '.join(map(quoted, test['command']))})"
        for item in test["properties"]:
            yield f"set_tests_properties({name} PROPERTIES {item['name']} {quoted(value_text(item['value']))})"


def main():
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    lines = [line for build in sys.argv[2:] for line in tests_of(pathlib.Path(build).resolve())]
    (out / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")


main()
