#!/bin/sh
# Three lists must be one: the names that libwte.so exports, the functions that the public headers mark
# WTE_API, and scripts/dev/symbols.txt, whose changes are reviewed.
#
# usage: check_symbols.sh LIBRARY [--accept]      (--accept rewrites symbols.txt from the library)
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C

nm -D --defined-only -P "$1" | awk '{ print $1 }' | sort >"$scratch/exported"
[ "${2-}" != --accept ] || cp "$scratch/exported" "$root/scripts/dev/symbols.txt"
# A declaration may cross lines; its name is the last word before the first parenthesis after WTE_API.
cat "$root"/include/wte/*.h | tr '\n' ' ' | sed 's/WTE_API /\n&/g' |
    sed -n 's/^WTE_API [^(]*[ *]\(wte_[a-z0-9_]*\)(.*/\1/p' | sort >"$scratch/declared"

status=0
for list in exported declared; do
    if ! diff "$root/scripts/dev/symbols.txt" "$scratch/$list" >"$scratch/diff"; then
        echo "symbols: scripts/dev/symbols.txt (<) and the names $list (>) differ:"
        grep '^[<>]' "$scratch/diff"
        status=1
    fi
done
[ "$status" -ne 0 ] || echo "symbols: ok ($(wc -l <"$root/scripts/dev/symbols.txt") names)"
exit "$status"
