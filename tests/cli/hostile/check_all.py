"""Give files of broken.py to wte: broken ones are refused with a message, exit code 3 or 4, soon, in little memory;
damaged ones are read or refused.

usage: check_all.py broken|damaged [--few]
    broken: every file to three commands.  damaged: every file to one of them in turn.
    --few: one command a file, fewer files, and no bounds (for sanitizers, which are slow and large)

Prints a line for each file that is not. Time is the processor's, so that a busy machine does not count.
"""
import concurrent.futures
import os
import pathlib
import signal
import sys
import tempfile

SECONDS, KIB = 1.0, 64 * 1024
HANGS = 30  # seconds by the clock that no run lasts, on any machine
REFUSED, READ = {3, 4}, {0, 1, 2, 3, 4}


def run(arguments, output):
    """Exit code (or minus the signal), what was printed, processor seconds, KiB resident at most."""
    with open(output, "wb") as file:
        both = [(os.POSIX_SPAWN_DUP2, file.fileno(), stream) for stream in (1, 2)]
        pid = os.posix_spawnp("wte", ["wte", *arguments], os.environ, file_actions=both)
        signal.signal(signal.SIGALRM, lambda *_: os.kill(pid, signal.SIGKILL))
        signal.alarm(HANGS)
        _, status, usage = os.wait4(pid, 0)
        signal.alarm(0)
    told = pathlib.Path(output).read_bytes()
    return os.waitstatus_to_exitcode(status), told, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def commands_of(path, which):
    """What is run on a file or folder; number `which` alone of a file's commands, unless it is None."""
    if os.path.isdir(path):  # a token wants every file of the folder
        return [["lookup", path, "x"]]
    commands = [["lookup", path, "0"], ["inspect", path], ["check", path]]
    return commands if which is None else [commands[which]]


def faults_of(path, file, codes, which, few):
    """What is wrong with how a broken file, or the folder `path` of a broken `file`, is refused."""
    found = []
    for arguments in commands_of(path, which):
        code, told, seconds, kib = run(arguments, path + ".out")
        said = f"{os.path.basename(path)}: {arguments[0]}: exit {code}"
        if code not in codes:
            found.append(f"{said}: {told[:300]!r}")
        elif code in REFUSED and file.encode() not in told:
            found.append(f"{said}: the message does not name the file: {told[:300]!r}")
        if not few and (seconds > SECONDS or kib > KIB):
            found.append(f"{said}: {seconds:.2f} s, {kib} KiB")
    return found


def write_broken(folder, few):
    """Write all; (path, broken file's name, exit codes that there may be, which command) of each."""
    import broken  # here, since a process counts as large as the one that started it

    for name, data in broken.broken():
        pathlib.Path(folder, name).write_bytes(data)
        yield os.path.join(folder, name), name, REFUSED, 0 if few else None
    for name, files, file in broken.folders():
        os.mkdir(os.path.join(folder, name))
        for beside, data in files.items():
            pathlib.Path(folder, name, beside).write_bytes(data)
        yield os.path.join(folder, name), file, REFUSED, None


def write_damaged(folder, few):
    import broken

    for turn, (name, data) in enumerate(broken.damaged(1 if few else 3)):
        pathlib.Path(folder, name).write_bytes(data)
        yield os.path.join(folder, name), name, READ, (turn + turn // 3) % 3


def main():
    write, least = {"broken": (write_broken, 250), "damaged": (write_damaged, 150)}[sys.argv[1]]
    few = "--few" in sys.argv[2:]
    with concurrent.futures.ProcessPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        list(pool.map(abs, range(2)))
        jobs = list(write(folder, few))
        assert len(jobs) == len({path for path, *_ in jobs}), "two of one name"
        print(f"at least {least} files" if len(jobs) >= least else f"only {len(jobs)} files")
        for found in pool.map(faults_of, *zip(*jobs), [few] * len(jobs), chunksize=8):
            for line in found:
                print(line)


main()
