#!/usr/bin/env python3
"""Fail on phrases that the project's texts replaced by technical terms, and on long lines and subjects.

usage: check_prose.py [PATH...]

Checked are comments and string literals of C files, names of tests, and the prose of Markdown pages (not code, tables
or sessions), in PATHS below, or in the files and folders that are named. Without arguments commit subjects are checked
too: those since this check exists have at most 72 characters.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is rewritten already. A folder that is added here stays clean.
PATHS = ["src/base", "src/core", "src/head", "src/lookup", "src/optim", "src/table", "src/vocab"]
PAGE_COLUMNS, SUBJECT_COLUMNS = 100, 72

# phrase: what to write instead
PHRASES = {
    r"tells?|told|telling": "report, print, return, say by name what is known",
    r"lies|lie|lying|stands|stand|standing": "is at, starts at, is stored in",
    r"beside": "next to, with, besides",
    r"behind": "after, past",
    r"(?:is|are|was|were|be) (?:no|none)": "is not a valid X, unknown X, is absent",
    r"of which|of whom": "a sentence of its own",
    r"so (?:many|much)": "at most N, N",
    r"who|whom|somebody|nobody|his|he": "caller, callee, thread, user",
    r"past the caches": "non-temporal store",
    r"slopes?": "gradient",
    r"ha(?:s|ve) no row": "out of range, not in the vocabulary",
    r"what must (?:hold|be)": "invariant, precondition, postcondition",
    r"that of one": "a sentence of its own",
    r"without a word": "silently",
    r"wants?": "needs, takes, reads",
    r"the (?:least|most) of|(?:norm|value|number) (?:least|most)": "minimum, maximum",
    r"so is": "a sentence of its own",
    r"more than fits": "overflow",
    r"the same twice": "duplicate",
}
BANNED = [(re.compile(rf"\b(?:{phrase})\b", re.I), phrase, better) for phrase, better in PHRASES.items()]
TEXTS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.S)
INCLUDE = re.compile(r'^\s*#\s*include[^\n]*', re.M)


def blanked(text):
    """Spaces in place of the text, so that lines keep their numbers."""
    return re.sub(r"[^\n]", " ", text)


def prose_of_c(text):
    """Comments and strings alone."""
    text = INCLUDE.sub(lambda m: blanked(m[0]), text)
    out, end = [], 0
    for match in TEXTS.finditer(text):
        out += [blanked(text[end:match.start()]), match[0]]
        end = match.end()
    return "".join(out)


def prose_of_page(text):
    """A page without fenced code, tables and `code`."""
    text = re.sub(r"^```.*?^```[^\n]*", lambda m: blanked(m[0]), text, flags=re.M | re.S)
    text = re.sub(r"^\|[^\n]*|^    [^\n]*|^<!--[^\n]*", lambda m: blanked(m[0]), text, flags=re.M)
    return re.sub(r"`[^`\n]*`", lambda m: blanked(m[0]), text)


def faults_of(path):
    name = path.relative_to(ROOT)
    text = path.read_text(errors="replace")
    page = path.suffix == ".md"
    prose = prose_of_page(text) if page else prose_of_c(text)
    for number, line in enumerate(prose.splitlines(), 1):
        for pattern, _, better in BANNED:
            match = pattern.search(line)
            if match:
                yield f"{name}:{number}: '{match[0]}': {better}"
    for number, (line, seen) in enumerate(zip(text.splitlines(), prose.splitlines()), 1):
        if page and len(line) > PAGE_COLUMNS and " " in seen.strip() and not line.startswith("#"):
            yield f"{name}:{number}: {len(line)} columns, at most {PAGE_COLUMNS}"


def files_of(paths):
    for path in paths:
        path = (ROOT / path).resolve()
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in (".c", ".h", ".def", ".md"):
                yield file


def subjects():
    def git(*arguments):
        return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True).stdout
    since = git("log", "--diff-filter=A", "--format=%H", "--", "scripts/dev/check_prose.py").split()
    for line in git("log", "--format=%h %s", f"{since[-1]}..HEAD").splitlines() if since else []:
        commit, _, subject = line.partition(" ")
        if len(subject) > SUBJECT_COLUMNS:
            yield f"commit {commit}: a subject of {len(subject)} characters, at most {SUBJECT_COLUMNS}"


def main():
    faults = [fault for file in files_of(sys.argv[1:] or PATHS) for fault in faults_of(file)]
    if len(sys.argv) == 1:
        faults += subjects()
    print("\n".join(faults) or "prose: ok")
    sys.exit(bool(faults))


main()
