"""Cut a file to 4096 bytes while a command works on it; print the command's exit code and what it said.

usage: shrink.py FILE wte COMMAND...

Its output goes into a pipe that nobody reads at first. The file is cut once the command has read a good part of it, or
waits because the pipe is full.
"""
import os
import pathlib
import re
import subprocess
import sys
import time

READ = 128 << 20  # bytes: more than any command needs to open a file
SECONDS = 10


def has_read(pid):
    """Bytes read so far, by calls or through a map."""
    count = re.search(r"^rchar: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text(), re.M)
    pages = re.search(r"^RssFile:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)
    return max(int(count[1]), int(pages[1]) * 1024 if pages else 0)


def is_stuck(pid):
    """Whether it sleeps in a write: the pipe is full."""
    return "pipe" in pathlib.Path(f"/proc/{pid}/wchan").read_text()


def main():
    path, command = sys.argv[1], sys.argv[2:]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        for _ in range(SECONDS * 100):
            if child.poll() is not None or has_read(child.pid) > READ or is_stuck(child.pid):
                break
            time.sleep(0.01)
        ended = child.poll() is not None
        os.truncate(path, 4096)
        _, said = child.communicate(timeout=SECONDS)
    print(f"{command[1]}: {'it had ended before' if ended else ''}exit {child.returncode}: {said.decode().strip()}")


main()
