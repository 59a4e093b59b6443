#!/usr/bin/env python3
"""Run a fuzz target over its seeds (made fresh by make_seeds.py) and over past findings.

usage: run_seeds.py TARGET PROGRAM
"""
import pathlib
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent
target, program = sys.argv[1:3]
with tempfile.TemporaryDirectory() as scratch:
    subprocess.run([sys.executable, str(here / "make_seeds.py"), scratch, target], check=True)
    files = sorted(str(p) for p in (pathlib.Path(scratch) / target).iterdir())
    files += sorted(str(p) for p in (here.parent / "tests/data/bad").glob(f"{target}-*"))
    if not files:
        sys.exit(f"no seeds for {target}")
    sys.exit(subprocess.run([program, *files]).returncode)
