#!/usr/bin/env python3
"""Measures the targets of goals.py against the peers that are here, and prints one table.

usage: targets.py BUILD_DIR [rows|bags|head|loss|train|words|table]...     default: all pieces, then the table

Each piece runs alone in a process, set up as is best for the peers, and leaves its JSON lines in BUILD_DIR/bench/targets-PIECE.jsonl.
The table holds the pieces that have been measured there; `table` only prints it. A ratio is the other's time over ours; after
it stand its first and third quarter. "tie": less than 5 % short of the goal. Exit 0 whether targets are met or not.
"""
import json
import os
import pathlib
import subprocess
import sys

import goals

HERE = pathlib.Path(__file__).resolve().parent
BLAS = HERE.parents[1] / ".cache/peers/blas/usr/lib/x86_64-linux-gnu/openblas-pthread"
PIECES = ("rows", "bags", "head", "loss", "train", "words")
TIE = 0.95
SHAPES = {"128000 x 4096": "16K", "50257 x 768": "3K"}


def environment():
    """Peers at their best: no kernels of older processors, no spinning threads, no first touch of small pages per call."""
    made = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}
    made["GOMP_SPINCOUNT"], made["OPENBLAS_THREAD_TIMEOUT"] = "0", "4"
    made.pop("ATEN_CPU_CAPABILITY", None)  # PyTorch takes it at its word, and dies where the processor lacks the set
    big = 1 << 40
    made["GLIBC_TUNABLES"] = f"glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold={big}:glibc.malloc.trim_threshold={big}"
    made["PYTHONDONTWRITEBYTECODE"] = "1"
    if BLAS.exists():
        made["LD_LIBRARY_PATH"] = f"{BLAS}:{made.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    return made


def lines_of(build, piece):
    return build / f"bench/targets-{piece}.jsonl"


def measure(build, piece):
    script = [sys.executable, str(HERE / f"targets_{piece}.py"), str(build / "libwte.so")]
    commands = [[str(build / "bench/bench_lookup")]] if piece == "rows" else []
    target = lines_of(build, piece)
    partial = target.with_suffix(".part")
    with open(partial, "w", encoding="utf-8") as out:
        for command in [*commands, script]:
            print(f"targets: {piece}: {pathlib.Path(command[-1] if len(command) == 1 else command[1]).name}", file=sys.stderr)
            subprocess.run(command, stdout=out, env=environment(), check=True)
    partial.replace(target)


def copy_loops(line):
    """A line of bench_lookup as one of ours: the best plain loop is a limit."""
    shape, _, law, threads = [part.strip() for part in line["case"].split(",")]
    operation = f"rows f32 {SHAPES[shape[4:]]}" + (" zipf" if law == "zipf" else "")
    return line | {"operation": operation, "threads": int(threads.split()[0]), "peer": "limit: " + line["peer"]}


def read(build):
    """Lines by operation and threads, what was missing, and whether a trial is among them."""
    found, missing, trial = {}, {}, False
    for piece in PIECES:
        path = lines_of(build, piece)
        for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            line = json.loads(text)
            if line["bench"] == "lookup":
                line = copy_loops(line)
            if "missing" in line:
                missing[line["missing"]] = line["why"]
                continue
            trial = trial or line.get("trial", False)
            found.setdefault((line["operation"], line["threads"]), []).append(line)
    return found, missing, trial


def strongest(lines, peers):
    """The line of the peer that leaves us the least ratio."""
    fitting = [line for line in lines if line["peer"].startswith(tuple(peers))]
    return min(fitting, key=lambda line: line["ratio"], default=None)


def shown(line):
    if line is None:
        return "-"
    if "pairs" in line and line["pairs"] == 1:
        return f"{line['ratio']:.2f}"
    low, high = line.get("ratio_quarters", line["ratio_range"])
    return f"{line['ratio']:.2f} ({low:.2f} to {high:.2f})"


def verdict(ratios, goal):
    if not ratios:
        return "missing"
    worst = min(ratios)
    return "yes" if worst >= goal else "tie" if worst >= TIE * goal else "no"


def goal_row(goal, found):
    lines = [strongest(found.get((goal.operation, threads), []), goal.peers) for threads in (1, 2)]
    names = list(dict.fromkeys(line["peer"] for line in lines if line))
    there = [line["ratio"] for line in lines if line]
    peer = " / ".join(names) or "missing: " + (goal.peers[0] if len(goal.peers) == 1 else "a peer")
    return [goal.operation, goal.asked, f"{goal.ratio:.2f}", peer, *map(shown, lines), verdict(there, goal.ratio)]


def share_row(operation, found):
    """The share of its limit that an operation has on one thread, and on two."""
    lines = [strongest(found.get((operation, threads), []), ("limit",)) for threads in (1, 2)]
    if None in lines:
        return [operation, "2 threads: the share of 1", "1.00", "missing: limit", *map(shown, lines), "missing"]
    result = verdict([lines[1]["ratio"] / lines[0]["ratio"]], 1)
    return [operation, "2 threads: the share of 1", "1.00", lines[0]["peer"], *map(shown, lines), result]


def table(build):
    found, missing, trial = read(build)
    done = [piece for piece in PIECES if lines_of(build, piece).exists()]
    rows = [["operation", "target", "ratio asked", "against", "1 thread", "2 threads", "met"]]
    rows += [goal_row(goal, found) for goal in goals.all_goals() if goal.piece in done]
    rows += [share_row(operation, found) for operation in goals.SHARES if operation.split()[0] in done]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * width for width in widths])
    for row in rows:
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
    met = [row[-1] for row in rows[2:]]
    print(f"\n{len(met)} targets: " + ", ".join(f"{met.count(word)} {word}" for word in ("yes", "tie", "no", "missing")))
    print(f"measured: {', '.join(done) or 'nothing'}; not yet: {', '.join(p for p in PIECES if p not in done) or 'nothing'}")
    if trial:
        print("a trial run (WTE_BENCH_TRIAL): these figures measure nothing")
    for what, why in missing.items():
        print(f"missing: {what}: {why}")


def main():
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1], "libwte.so").exists():
        sys.exit(__doc__)
    build, asked = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:] or PIECES
    for piece in asked:
        if piece not in (*PIECES, "table"):
            sys.exit(f"targets: no piece '{piece}'; known: {' '.join(PIECES)} table")
    for piece in asked:
        if piece != "table":
            measure(build, piece)
    table(build)


if __name__ == "__main__":
    main()
