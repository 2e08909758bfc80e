"""Undoes or finishes directory replacements that a killed runtime left incomplete.

The leftover directory's contents show which step the replacement had reached:

    .hawse-restore-X/new    the new directory
    .hawse-restore-X/old    old entries that were being moved there; they are moved back
    .hawse-restore-X/gone   all old entries; the new entries are moved into place
"""

import fcntl
import logging
import os
import re
import threading
from typing import Final

from hawse_runtime.backup.tree_moves import move_entry, remove_leftover, set_attributes
from hawse_runtime.files.atomic_replace import MARK

log = logging.getLogger(__name__)

NEW: Final = "new"
OLD: Final = "old"
GONE: Final = "gone"
LEFTOVER: Final = re.compile(re.escape(MARK) + r"restore-[0-9a-f]{16}")  # also matches archives sent by the gateway
DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
making = threading.Lock()  # held until a new directory is locked, so that it isn't mistaken for a leftover


def sweep(folder: int) -> None:
    """Undo or finish replacements that a killed runtime left incomplete in a directory, and remove the leftovers."""
    for name in recover(folder):
        remove_leftover(folder, name)


def recover(folder: int, *, starting: bool = False) -> list[str]:
    """Undo or finish the replacements that a killed runtime left in a directory.

    Args:
        folder: The directory's descriptor.
        starting: Whether the runtime hasn't started any work yet. If so, archives sent by the gateway are leftovers,
            too.

    Returns:
        The names in the directory that can be removed now.
    """
    done = []
    for name in filter(LEFTOVER.fullmatch, os.listdir(folder)):
        try:
            if _recovered(folder, name, starting):
                done.append(name)
        except OSError as error:  # for example, a name is taken; nothing has been overwritten
            log.warning("! cannot restore %s: %s", name, error)
    return done


def _recovered(folder: int, name: str, starting: bool) -> bool:
    """Undo or finish a replacement. Return False if it is still in progress."""
    try:
        with making:
            fd = os.open(name, DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except NotADirectoryError:
        return starting
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            if not starting:
                return False
        names = os.listdir(fd)
        if OLD in names:
            _move_all(fd, OLD, folder)
        elif GONE in names:
            _move_all(fd, NEW, folder)
            set_attributes(folder, os.stat(NEW, dir_fd=fd, follow_symlinks=False))
            times = os.stat(GONE, dir_fd=fd, follow_symlinks=False)
            os.utime(folder, ns=(times.st_atime_ns, times.st_mtime_ns))
        return True
    finally:
        os.close(fd)


def _move_all(holder: int, name: str, folder: int) -> None:
    """Move a directory's entries. Tries all of them, then raises the last `OSError`, if any."""
    failure: OSError | None = None
    source = os.open(name, DIRECTORY | os.O_NOFOLLOW, dir_fd=holder)
    try:
        for entry in os.listdir(source):
            try:
                move_entry(entry, source, folder)
            except OSError as error:
                failure = error
    finally:
        os.close(source)
    if failure is not None:
        raise failure
