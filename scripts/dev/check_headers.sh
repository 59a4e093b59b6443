#!/bin/sh
# Each public header must compile alone, first in its file, as C11 and as C++17, with all warnings on.
#
# usage: check_headers.sh
# exit   77 when there is no C++ compiler here
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wundef -Werror"

cxx=""
for name in g++ clang++ c++; do
    if command -v "$name" >/dev/null; then
        cxx=$name
        break
    fi
done
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for header in "$root"/include/wte/*.h; do
    name=wte/${header##*/}
    # Twice: a header that lacks its guard, or needs another one first, fails here.
    printf '#include <%s>\n#include <%s>\n' "$name" "$name" >"$scratch/alone.c"
    cp "$scratch/alone.c" "$scratch/alone.cpp"
    # shellcheck disable=SC2086 # the warnings are meant to be split
    ${CC:-cc} -std=c11 $warnings -Wstrict-prototypes -I "$root/include" -fsyntax-only "$scratch/alone.c"
    # shellcheck disable=SC2086
    [ -z "$cxx" ] || "$cxx" -std=c++17 $warnings -I "$root/include" -fsyntax-only "$scratch/alone.cpp"
done
if [ -z "$cxx" ]; then
    echo "headers: fine as C11; no C++ compiler here to try them as C++17"
    exit 77
fi
echo "headers: ok as C11 and C++17"
