#!/bin/sh
# Installs a build into a scratch prefix, moves the prefix, and builds examples/quickstart.c against it in four ways:
# pkg-config and CMake, shared and static. Each program must print the demo's four rows.
#
# usage: check_install.sh BUILD_DIRECTORY
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "install: $*" >&2
    exit 1
}

cmake --install "$1" --prefix "$scratch/first" >"$scratch/log" || fail "cmake --install failed: $(cat "$scratch/log")"
mv "$scratch/first" "$scratch/moved" # nothing may remember where it was installed
prefix=$scratch/moved
pc=$(find "$prefix" -name wte.pc)
[ -n "$pc" ] || fail "no wte.pc"
libdir=$(dirname "$(dirname "$pc")")
for file in bin/wte include/wte/wte.h share/man/man1/wte.1; do
    [ -s "$prefix/$file" ] || fail "no $file"
done
for file in libwte.so libwte.so.0 libwte.a cmake/wte/wteConfig.cmake; do
    [ -s "$libdir/$file" ] || fail "no $file in the library folder"
done
readelf -d "$libdir/libwte.so" | grep -q 'SONAME.*\[libwte\.so\.0\]' || fail "libwte.so has no soname libwte.so.0"

cat >"$scratch/want" <<'ROWS'
 1.2753 -0.2010 -0.1606
-0.4015  0.9666 -1.1481
-2.8400 -0.7849 -1.4096
 0.9178  1.5810  1.3010
ROWS
run() {
    LD_LIBRARY_PATH=$libdir "$2" >"$scratch/got" || fail "$1: the program fails"
    diff "$scratch/want" "$scratch/got" >&2 || fail "$1: the program prints something else"
}

export PKG_CONFIG_PATH="${pc%/*}"
cd "$scratch"
# shellcheck disable=SC2046 # flags are meant to be split
${CC:-cc} -std=c11 -o shared "$root/examples/quickstart.c" $(pkg-config --cflags --libs wte)
readelf -d shared | grep -q 'NEEDED.*libwte\.so\.0' || fail "pkg-config, shared: not linked to libwte.so.0"
run "pkg-config, shared" ./shared
# shellcheck disable=SC2046
${CC:-cc} -std=c11 -static -o static "$root/examples/quickstart.c" $(pkg-config --static --cflags --libs wte)
run "pkg-config, static" ./static

mkdir consumer
cp "$root/examples/quickstart.c" consumer
cat >consumer/CMakeLists.txt <<'PROJECT'
cmake_minimum_required(VERSION 3.16)
project(consumer LANGUAGES C)
find_package(wte 0.1 REQUIRED)
foreach(kind wte wte_static)
  add_executable(with_${kind} quickstart.c)
  target_link_libraries(with_${kind} PRIVATE wte::${kind})
endforeach()
PROJECT
{ cmake -S consumer -B consumer/build -DCMAKE_PREFIX_PATH="$prefix" && cmake --build consumer/build; } >"$scratch/log" 2>&1 ||
    fail "find_package: $(cat "$scratch/log")"
run "find_package, shared" consumer/build/with_wte
run "find_package, static" consumer/build/with_wte_static
echo "install: ok: pkg-config and find_package, shared and static"
