"""Measure the time from starting `hawse shell` to the prompt: `python -m bench.shell [RUNS] [HAWSE …]`.

The benchmark uses the gateway that `hawse` finds. Each HAWSE is a command such as `venv/bin/hawse`. Several commands
alternate, so that all of them run under the same load. The first run of each command is a warm-up and is not counted.
"""

import os
import pty
import re
import select
import statistics
import subprocess
import sys
import time
from typing import Final

PATIENCE: Final = 30.0  # s
DETACH: Final = b"\x1d"  # Ctrl-]
ESCAPES: Final = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
PROMPT: Final = re.compile(rb"[$#] ")


def prompt(hawse: str) -> float:
    """Return the seconds from the start of a process to its prompt."""
    ours, theirs = pty.openpty()
    began = time.perf_counter()
    with subprocess.Popen([hawse, "shell"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True):
        os.close(theirs)
        output = b""
        while not PROMPT.search(ESCAPES.sub(b"", output)):
            if not select.select([ours], [], [], PATIENCE)[0]:
                raise SystemExit(f"{hawse}: expected a prompt, got {output!r}")
            output += os.read(ours, 65536)
        took = time.perf_counter() - began
        os.write(ours, DETACH)
        try:
            while os.read(ours, 65536):
                pass
        except OSError:  # EIO: the process has ended
            os.close(ours)
    return took


def main(argv: list[str]) -> None:
    runs, commands = int(argv[0]) if argv else 20, argv[1:] or ["hawse"]
    found: dict[str, list[float]] = {command: [] for command in commands}
    for run in range(runs + 1):
        for command, times in found.items():
            took = prompt(command)
            if run:
                times.append(took * 1000)
    for command, times in found.items():
        print(f"{command}: median {statistics.median(times):.0f} ms, fastest {min(times):.0f} ms")
    print(f"{runs} runs, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    main(sys.argv[1:])
