"""Give every broken file of broken.py to wte: refused with a message, exit code 3 or 4, soon, in little memory.

usage: check_all.py [--few]      --few: one command a file, and no bounds (for sanitizers, which are slow and large)

Prints a line for each file that is not. Time is the processor's, so that a busy machine does not count.
"""
import concurrent.futures
import os
import pathlib
import sys
import tempfile

SECONDS, KIB = 1.0, 64 * 1024
HANGS = 30  # seconds by the clock that no run lasts, on any machine
REFUSED, READ = {3, 4}, {0, 1, 2, 3, 4}


def run(arguments, output):
    """Exit code (or minus the signal), what was printed, processor seconds, KiB resident at most."""
    with open(output, "wb") as file:
        both = [(os.POSIX_SPAWN_DUP2, file.fileno(), stream) for stream in (1, 2)]
        pid = os.posix_spawnp("timeout", ["timeout", str(HANGS), "wte", *arguments], os.environ, file_actions=both)
        _, status, usage = os.wait4(pid, 0)
    told = pathlib.Path(output).read_bytes()
    return os.waitstatus_to_exitcode(status), told, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def faults_of(path, file, codes, few):
    """What is wrong with how a broken file, or the folder `path` of a broken `file`, is refused."""
    found = []
    commands = [["lookup", path, "0"], ["inspect", path], ["check", path]]
    if os.path.isdir(path):  # a token wants every file of the folder
        commands = [["lookup", path, "x"]]
    for arguments in commands[: 1 if few else 3]:
        code, told, seconds, kib = run(arguments, path + ".out")
        said = f"{os.path.basename(path)}: {arguments[0]}: exit {code}"
        if code not in codes:
            found.append(f"{said}: {told[:300]!r}")
        elif code in REFUSED and file.encode() not in told:
            found.append(f"{said}: the message does not name the file: {told[:300]!r}")
        if not few and (seconds > SECONDS or kib > KIB):
            found.append(f"{said}: {seconds:.2f} s, {kib} KiB")
    return found


def write_all(folder, few):
    """Write all; (path, broken file's name, exit codes that there may be) of each."""
    import broken  # here, since a process counts as large as the one that started it

    jobs = []
    for name, data in broken.broken():
        jobs.append((name, name, REFUSED))
        pathlib.Path(folder, name).write_bytes(data)
    for name, files, file in broken.folders():
        jobs.append((name, file, REFUSED))
        os.mkdir(os.path.join(folder, name))
        for beside, data in files.items():
            pathlib.Path(folder, name, beside).write_bytes(data)
    print("at least 250 broken files" if len(jobs) >= 250 else f"only {len(jobs)} broken files")
    for name, data in broken.damaged(1 if few else 3):
        jobs.append((name, name, READ))
        pathlib.Path(folder, name).write_bytes(data)
    assert len(jobs) == len({name for name, *_ in jobs}), "two of one name"
    return [(os.path.join(folder, name), file, codes, few) for name, file, codes in jobs]


def main():
    few = "--few" in sys.argv[1:]
    with concurrent.futures.ProcessPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        list(pool.map(abs, range(2)))
        for found in pool.map(faults_of, *zip(*write_all(folder, few)), chunksize=8):
            for line in found:
                print(line)


main()
