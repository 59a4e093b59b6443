#!/bin/sh
# Runs the benchmarks of a build, and the peers that this machine has; builds nothing.
#
# usage: bench/run.sh BUILD_DIR [UNIT...]      (default: every bench_<unit> in the build, then its peers)
# usage: bench/run.sh targets [PIECE...]       (of build/release, against the peers that bench/peers/fetch.py has fetched: one
#                                               table; pieces: rows bags head loss train words, or table alone; default all)
#
# JSON lines go to stdout: keep them in a file for bench/compare.py. WTE_BENCH_ROUNDS sets the number of pairs.
set -eu
test $# -gt 0 || {
    sed -n 's/^# usage: /usage: /p' "$0" >&2
    exit 2
}
if test "$1" = targets; then
    set -- "$(dirname "$0")/../build/release" "$@"
fi
build=$(cd "$1" && pwd)
shift
cd "$(dirname "$0")"
WTE_COMMIT=${WTE_COMMIT-$(git describe --always --dirty 2>/dev/null || echo unknown)}
PYTHONDONTWRITEBYTECODE=1
export WTE_COMMIT PYTHONDONTWRITEBYTECODE
python=/usr/bin/python3 # the system's, which has its PyTorch and NumPy
test -x "$python" || python=python3
if test "${1-}" = targets; then
    shift
    exec "$python" peers/targets.py "$build" "$@"
fi
test $# -gt 0 || set -- $(ls bench_*.c bench_*.py | sed 's/^bench_//; s/\.[a-z]*$//')
for unit in "$@"; do
    echo "bench: $unit" >&2
    if test -f "bench_$unit.py"; then "$python" "bench_$unit.py" "$build/wte"; else "$build/bench/bench_$unit"; fi
    for peer in peers/"$unit"_*.py; do
        test -f "$peer" || continue
        echo "bench: $unit against $(basename "$peer" .py)" >&2
        status=0
        "$python" "$peer" "$build/libwte.so" || status=$?
        test "$status" -eq 0 || test "$status" -eq 77 || exit "$status"
    done
done
