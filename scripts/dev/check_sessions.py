#!/usr/bin/env python3
"""Run the terminal sessions of README.md and docs/*.md and compare what they print, line for line.

usage: check_sessions.py --wte PROGRAM [--models] [--accept] [PAGE...]

A session is a block fenced by ```console: lines that start with `$ ` are commands (`> ` continues one), the lines
after each are all that it prints, standard output and error together. All sessions of a page run in one scratch
folder, in order, with wte in PATH and the repository's scripts/, tests/ and .cache/ beside them; `echo $?` after a command
shows its exit code. The line before a block may say more:
    <!-- needs: models -->   wants scripts/fetch-models to have run; such sessions run only with --models,
                             and only they do
--accept rewrites the pages with what was printed; the diff is the review.

exit 0 all as printed, 1 not, 77 skipped: --models, but no models here
"""
import argparse
import difflib
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS_MARK = "<!-- needs: models -->"


class Block:
    def __init__(self, first, needs_models):
        self.first = first  # index of the first line inside the fence
        self.needs_models = needs_models
        self.steps = []  # [index of the line, command, lines it should print]


def read_blocks(lines):
    blocks, block, mark = [], None, ""
    for i, line in enumerate(lines):
        if block is None:
            if line.startswith("```console"):
                block = Block(i + 1, mark == MODELS_MARK)
            elif line.strip():
                mark = line.strip()
        elif line.startswith("```"):
            blocks.append(block)
            block, mark = None, ""
        elif line.startswith("$ "):
            block.steps.append([i, line[2:], []])
        elif line.startswith("> ") and block.steps and not block.steps[-1][2]:
            block.steps[-1][1] += "\n" + line[2:]
        elif block.steps:
            block.steps[-1][2].append(line)
    return blocks


def environment(program, scratch):
    keep = {k: v for k, v in os.environ.items() if not k.startswith(("WTE_", "LC_", "LANG"))}
    return {**keep, "PATH": f"{pathlib.Path(program).resolve().parent}{os.pathsep}{os.environ['PATH']}",
            "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "HOME": scratch}


def run_step(command, last, scratch, env):
    # The exit code of the step before is put back, so that `echo $?` says what a person would see.
    done = subprocess.run(["sh", "-c", f"(exit {last})\n{command}"], cwd=scratch, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    printed = done.stdout.decode("utf-8", "backslashreplace").rstrip("\n")
    return done.returncode, printed.split("\n") if printed else []


def show_difference(page, line, command, want, got):
    print(f"{page}:{line + 1}: $ {command}")
    for text in difflib.ndiff(want, got):
        if not text.startswith("?"):
            print(f"    {text}")


def run_page(page, options):
    lines = page.read_text().split("\n")
    blocks = [b for b in read_blocks(lines) if b.needs_models == options.models]
    bad, steps, new = 0, 0, []
    with tempfile.TemporaryDirectory() as scratch:
        for name in ("scripts", "tests", ".cache"):
            (pathlib.Path(scratch) / name).symlink_to(ROOT / name)
        env, last = environment(options.wte, scratch), 0
        for block in blocks:
            for line, command, want in block.steps:
                last, got = run_step(command, last, scratch, env)
                steps += 1
                after = line + 1 + command.count("\n")
                while want and not want[-1]:  # a blank line before the next command is for the eye
                    want = want[:-1]
                new.append((after, after + len(want), got))
                if got != want:
                    bad += 1
                    if not options.accept:
                        show_difference(page.relative_to(ROOT), line, command, want, got)
    if options.accept and bad:
        for start, end, got in reversed(new):
            lines[start:end] = got
        page.write_text("\n".join(lines))
    return steps, bad, len(blocks)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wte", required=True)
    parser.add_argument("--models", action="store_true")
    parser.add_argument("--accept", action="store_true")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.models and not any((ROOT / ".cache/models").glob("*/model.safetensors")):
        print("sessions: skipped: scripts/fetch-models has not run here")
        sys.exit(77)
    pages = [p.resolve() for p in options.pages] or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    results = {page: run_page(page, options) for page in pages}
    for page, (steps, bad, blocks) in results.items():
        if steps:
            print(f"sessions: {page.name}: {blocks} sessions, {steps} commands, {bad} differ")
    if not options.accept and any(bad for _, bad, _ in results.values()):
        sys.exit(1)
    if not any(steps for steps, _, _ in results.values()):
        sys.exit("sessions: no session found at all")


main()
