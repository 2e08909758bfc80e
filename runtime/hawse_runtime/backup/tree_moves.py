"""Moves entries between directories given by descriptor, and removes trees regardless of their modes."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from hawse_runtime.files.atomic_replace import rename
from hawse_runtime.posix.proc import PROC, reopen


def move_entry(name: str, source: int, target: int, to: str | None = None) -> None:
    """Move an entry to another directory unless the name is taken. A directory must be writable to be moved.

    Args:
        name: The entry's name in `source`.
        source: The descriptor for the entry's directory.
        target: The descriptor for the other directory.
        to: The name in `target`; None keeps the name.
    """
    places = (source, name), (target, name if to is None else to)
    try:
        rename(*places, overwrite=False)
    except PermissionError:
        with writable(source, name):
            rename(*places, overwrite=False)


@contextmanager
def writable(folder: int, name: str) -> Iterator[None]:
    """Give the owner write permission on a directory during the `with` block."""
    fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(fd).st_mode & 0o7777
        os.chmod(f"self/fd/{fd}", mode | 0o700, dir_fd=PROC)
        try:
            yield
        finally:
            os.chmod(f"self/fd/{fd}", mode, dir_fd=PROC)
    finally:
        os.close(fd)


def remove_leftover(folder: int, name: str) -> None:
    """Remove a file or a tree, even from a read-only directory. Entries that can't be removed are left in place."""
    with suppress(OSError):
        if _removed(folder, name):
            return
        mode = os.fstat(folder).st_mode & 0o7777
        os.fchmod(folder, mode | 0o700)
        try:
            _removed(folder, name)
        finally:
            os.fchmod(folder, mode)


def _removed(folder: int, name: str) -> bool:
    """Remove a file or a tree. Return whether it was removed completely."""
    with suppress(FileNotFoundError):
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            remove_beneath(folder, name)
        else:
            with suppress(PermissionError):
                os.unlink(name, dir_fd=folder)
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        return False
    return True


def remove_beneath(folder: int, name: str) -> None:
    """Remove a tree. Entries that can't be removed are left in place; no error is raised."""
    with suppress(RecursionError):
        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
    with suppress(OSError, RecursionError):
        _allow_removal(folder, name)
        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)


def _allow_removal(folder: int, name: str) -> None:
    """Make all directories in a tree writable, so that their files can be removed."""
    fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"self/fd/{fd}", 0o700, dir_fd=PROC)
        reading = reopen(fd, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(reading) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        _allow_removal(reading, entry.name)
        finally:
            os.close(reading)
    finally:
        os.close(fd)


def set_attributes(target: int, status: os.stat_result) -> None:
    """Set a directory's mode, owner and times to those in another directory's `status`."""
    with suppress(PermissionError):
        os.fchown(target, status.st_uid, status.st_gid)
    os.fchmod(target, status.st_mode & 0o7777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
