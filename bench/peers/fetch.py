#!/usr/bin/env python3
"""Installs the peers of packages.txt from their registries into .cache/peers/<name>, which git ignores.

usage: fetch.py [NAME...]        default: all that are not there yet

Each package is pinned by version and SHA-256 and comes through its registry's own client (pip, npm, mvn, apt-get). What cannot be
had is named, and the benchmarks then name it as missing; that is no failure. Exit 1 only when a package is another than
the pinned one.
"""
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / ".cache/peers"
LIST = pathlib.Path(__file__).with_name("packages.txt")
STAMP = ".package"
# Libraries that FBGEMM's names as needed and takes nothing from but cpuinfo, which Debian has.
FBGEMM_WANTS = ("libc10.so", "libtorch.so", "libtorch_cpu.so")
CPUINFO = "libcpuinfo.so.0"


def packages():
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split()


def run(*command, cwd=None):
    subprocess.run(command, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def from_pypi(package, scratch):
    # The wheel that is pinned, whichever Python asks.
    wheel = ("--only-binary=:all:", "--no-deps", "--python-version", "3.11", "--implementation", "cp")
    platforms = [f"--platform=manylinux{tag}_x86_64" for tag in ("_2_28", "_2_27", "2014", "2010", "1")]
    run(sys.executable, "-m", "pip", "download", "--quiet", "--retries", "1", *wheel, *platforms, "--dest", scratch, package)


def from_pypi_source(package, scratch, digest):
    # pip runs what a source package brings before it hands the package over, so it has to know the digest itself.
    wanted = scratch.with_suffix(".txt")
    wanted.write_text(f"{package} --hash=sha256:{digest}\n", encoding="utf-8")
    source = ("--no-deps", "--no-binary", package.split("=")[0], "--require-hashes")
    run(sys.executable, "-m", "pip", "download", "--quiet", "--retries", "1", *source, "--dest", scratch, "-r", wanted)
    wanted.unlink()


def from_npm(package, scratch):
    run("npm", "pack", "--silent", package, cwd=scratch)


def from_maven(package, scratch):
    copy = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy"
    run("mvn", "--quiet", "--batch-mode", copy, f"-Dartifact={package}", f"-DoutputDirectory={scratch}", cwd=scratch)


def from_debian(package, scratch):
    run("apt-get", "download", "-q", "-o", "APT::Sandbox::User=root", package, cwd=scratch)


def unpack(archive, place):
    if archive.suffix == ".deb":
        run("dpkg-deb", "--extract", archive, place)
        return
    if archive.suffix == ".tgz":
        with tarfile.open(archive) as packed:
            members = {m.name: packed.extractfile(m).read() for m in packed.getmembers() if m.isfile()}
    else:
        with zipfile.ZipFile(archive) as packed:
            members = {n: packed.read(n) for n in packed.namelist() if not n.endswith("/")}
    for name, data in members.items():
        path = pathlib.PurePosixPath(name)
        # Libraries that are loaded by path lie flat; Python packages keep their folders.
        flat = archive.suffix in (".tgz", ".jar") or ".data" in path.parts[0]
        if flat and not re.search(r"\.so(\.|$)", path.name):
            continue
        target = place / (path.name if flat else name)
        if ".." in path.parts or path.is_absolute():
            sys.exit(f"fetch: {archive.name} holds the path {name}")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def stubs(place):
    """Empty libraries in place of a whole PyTorch; one of them leads to Debian's cpuinfo."""
    for name in FBGEMM_WANTS:
        target = place / "fbgemm_gpu" / name
        run("gcc", "-shared", "-Wl,--no-as-needed", f"-Wl,-soname,{name}", "-o", target, "-x", "c", "/dev/null",
            "-x", "none", f"-l:{CPUINFO}")


def build_ggml(archive, place):
    """ggml for the processor that this runs on, whole: as a package it decodes blocks with what any x86-64 has."""
    with tempfile.TemporaryDirectory() as scratch:
        run("tar", "--extract", "--file", archive, "--directory", scratch)
        (source,) = pathlib.Path(scratch).glob("*/vendor/ggml")
        build = pathlib.Path(scratch) / "build"
        given = {"CMAKE_BUILD_TYPE": "Release", "BUILD_SHARED_LIBS": "ON", "GGML_NATIVE": "ON", "GGML_OPENMP": "OFF"}
        given |= {"GGML_CCACHE": "OFF", "GGML_BUILD_TESTS": "OFF", "GGML_BUILD_EXAMPLES": "OFF"}
        given |= {"CMAKE_BUILD_WITH_INSTALL_RPATH": "ON", "CMAKE_INSTALL_RPATH": "$ORIGIN"}
        given |= {"CMAKE_C_FLAGS": "-march=native", "CMAKE_CXX_FLAGS": "-march=native"}
        run("cmake", "-G", "Ninja", "-S", source, "-B", build, *(f"-D{name}={value}" for name, value in given.items()))
        run("cmake", "--build", build, "--target", "ggml-base", "ggml-cpu")
        for library in (build / "src").glob("libggml-*.so*"):
            shutil.copy2(library, place, follow_symlinks=False)


def fetch(name, registry, package, digest):
    place = PLACE / name
    if (place / STAMP).exists() and (place / STAMP).read_text(encoding="utf-8") == f"{package} {digest}\n":
        return f"{package} is there"
    with tempfile.TemporaryDirectory() as scratch:
        ways = {"pypi": from_pypi, "npm": from_npm, "maven": from_maven, "debian": from_debian}
        if registry == "pypi-source":
            from_pypi_source(package, pathlib.Path(scratch), digest)
        else:
            ways[registry](package, pathlib.Path(scratch))
        (archive,) = pathlib.Path(scratch).iterdir()
        if hashlib.sha256(archive.read_bytes()).hexdigest() != digest:
            sys.exit(f"fetch: {package} from {registry} is not the pinned file; nothing was unpacked")
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        (build_ggml if registry == "pypi-source" else unpack)(archive, place)
    if name == "fbgemm":
        stubs(place)
    (place / STAMP).write_text(f"{package} {digest}\n", encoding="utf-8")
    return f"{package} from {registry}"


def main():
    known = {name: (registry, package, digest) for name, registry, package, digest, _ in packages()}
    for name in sys.argv[1:] or known:
        if name not in known:
            sys.exit(f"fetch: no peer '{name}'; known: {' '.join(known)}")
        try:
            print(f"{name}: {fetch(name, *known[name])}", flush=True)
        except (subprocess.CalledProcessError, OSError, ValueError) as error:
            print(f"{name}: cannot be had here: {error}", flush=True)


if __name__ == "__main__":
    main()
