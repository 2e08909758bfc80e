"""Removes directories whose contents come from user programs."""

import errno
import os
import secrets
import shutil
from pathlib import Path
from typing import Final

RETRIES: Final = 100  # maximum number of retries if programs keep adding files while a directory is removed
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str | Path, *, dir_fd: int | None = None) -> None:
    """Remove a directory and its contents. Has no effect if it doesn't exist. Doesn't follow symbolic links.

    `shutil.rmtree` recurses, so any program can create a tree that is too deep for it. It also fails on directories
    without write permission, such as Go's module cache, unless the gateway runs as the superuser. This function handles
    both. It never runs `rm` or `chmod`, because it is also called in a sandbox's mount namespace, where programs can
    replace them.

    Args:
        path: The directory.
        dir_fd: A descriptor for the directory that `path` is relative to.

    Raises:
        OSError: The directory, or part of it, cannot be removed.
    """
    try:
        shutil.rmtree(path, dir_fd=dir_fd)
    except (OSError, RecursionError):
        try:
            top = _open(path, dir_fd)
        except FileNotFoundError:
            return
        try:
            _empty(top)
        finally:
            os.close(top)
        os.rmdir(path, dir_fd=dir_fd)


def _empty(top: int) -> None:
    """Remove everything in a directory. Nested directories are first moved to its top level, so that at most two
    directories are open at a time."""
    retries = 0
    while names := os.listdir(top):
        for name in names:
            if _unlink(name, top):
                continue
            directory = _open(name, top)
            try:
                for inner in os.listdir(directory):
                    if not _unlink(inner, directory):
                        os.close(_open(inner, directory))  # makes `inner` writable, because the move changes its `..`
                        os.rename(inner, secrets.token_hex(16), src_dir_fd=directory, dst_dir_fd=top)
            finally:
                os.close(directory)
            try:
                os.rmdir(name, dir_fd=top)
            except OSError as error:
                retries += 1
                if error.errno != errno.ENOTEMPTY or retries > RETRIES:
                    raise


def _unlink(name: str, directory: int) -> bool:
    """Remove a file. Return whether `name` is not a directory."""
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        pass
    except IsADirectoryError:
        return False
    return True


def _open(path: str | Path, dir_fd: int | None) -> int:
    """Open a directory. Unless running as the superuser, first grant the owner all permissions for it."""
    try:
        found = os.open(path, _DIRECTORY, dir_fd=dir_fd)
    except PermissionError:
        # Uses /proc, because fchmodat(2) without following links requires Linux 6.6.
        place = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=dir_fd)
        try:
            os.chmod(f"/proc/self/fd/{place}", 0o700)
        finally:
            os.close(place)
        return os.open(path, _DIRECTORY, dir_fd=dir_fd)
    if os.geteuid() != 0:
        try:
            os.fchmod(found, 0o700)
        except OSError:
            os.close(found)
            raise
    return found
