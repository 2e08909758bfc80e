"""Reads the original /proc through a descriptor opened at startup.

Once the runtime has entered the inner sandbox, /proc shows the programs' PID namespace, where the runtime does
not exist (docs/decisions/0085). Paths in this module are therefore relative to the original /proc: `1/stat`, `self/fd`,
`net/tcp`. See proc(5).
"""

import os
from typing import Final

PROC: Final = os.open("/proc", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)  # never closed


def open_proc(path: str, flags: int = os.O_RDONLY) -> int:
    """Open a file in /proc and return its descriptor. Raises `OSError`."""
    return os.open(path, flags | os.O_CLOEXEC, dir_fd=PROC)


def read_proc(path: str) -> bytes:
    """Return the contents of a file in /proc. Raises `OSError`."""
    with open(open_proc(path), "rb") as file:
        return file.read()


def list_proc(path: str = ".") -> list[str]:
    """Return the names in a directory in /proc. Raises `OSError`."""
    fd = open_proc(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        return os.listdir(fd)
    finally:
        os.close(fd)


def read_link(path: str) -> str:
    """Return the target of a symbolic link in /proc. Raises `OSError`."""
    return os.readlink(path, dir_fd=PROC)


def own_pid(pid: int) -> int:
    """Return a process's pid in its innermost PID namespace, or `pid` if the process has exited."""
    try:
        lines = read_proc(f"{pid}/status").splitlines()
    except OSError:
        return pid
    return next((int(line.split()[-1]) for line in lines if line.startswith(b"NSpid:")), pid)


def reopen(fd: int, flags: int) -> int:
    """Reopen the file behind a descriptor with other flags (open(2), O_PATH). Raises `OSError`."""
    return open_proc(f"self/fd/{fd}", flags)
