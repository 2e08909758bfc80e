"""Removes directories whose contents come from user programs."""

import os
import shutil
import subprocess
from pathlib import Path


def remove_tree(path: str | Path, *, dir_fd: int | None = None) -> None:
    """Remove a directory and its contents. Has no effect if it doesn't exist.

    `shutil.rmtree` fails on directories without write permission, such as Go's module cache, unless the gateway runs as
    the superuser. It also recurses, so any program can create a tree that is too deep for it. `chmod` and `rm` handle
    both.

    Args:
        path: The directory. No program may be using it.
        dir_fd: A descriptor for the directory that `path` is relative to.

    Raises:
        OSError: The directory, or part of it, cannot be removed.
    """
    try:
        shutil.rmtree(path, dir_fd=dir_fd)
    except FileNotFoundError:
        if not os.path.lexists(_absolute(path, dir_fd)):
            return
        _force(path, dir_fd)
    except (OSError, RecursionError):
        _force(path, dir_fd)


def _force(path: str | Path, dir_fd: int | None) -> None:
    target = _absolute(path, dir_fd)
    fds = () if dir_fd is None else (dir_fd,)
    if os.geteuid() != 0:
        subprocess.run(["chmod", "-R", "u+rwx", "--", target], pass_fds=fds, capture_output=True, check=False)
    removal = subprocess.run(["rm", "-rf", "--", target], pass_fds=fds, capture_output=True, check=False)
    if os.path.lexists(target):
        lines = removal.stderr.decode(errors="replace").splitlines() or ["rm failed"]
        raise OSError(0, lines[0].rpartition(": ")[2], os.fspath(path))


def _absolute(path: str | Path, dir_fd: int | None) -> str:
    return os.fspath(path) if dir_fd is None else f"/proc/self/fd/{dir_fd}/{os.fspath(path)}"
