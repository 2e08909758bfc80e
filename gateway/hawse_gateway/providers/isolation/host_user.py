"""The host's user of a sandbox: one of its own for each if the gateway is the superuser, else that of the gateway."""

import os
import secrets
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FIRST: Final = 1_879_048_192  # systemd documents the range to the end of 31 bits as unused by any system
COUNT: Final = 1 << 27
ATTEMPTS: Final = 100  # random choices, of which each is taken already with a probability of (sandboxes / COUNT)


def assigned(file: Path) -> int | None:
    """Return the uid that `choose` has written. None if there is none, or if the content is not valid."""
    try:
        uid = int(file.read_text())
    except (OSError, ValueError):
        return None
    return uid if FIRST <= uid < FIRST + COUNT else None


def choose(file: Path, others: Iterable[Path]) -> int:
    """Return the uid of a sandbox, which is chosen when the sandbox is started first and kept in `file`.

    Args:
        file: Where it is kept.
        others: The files of the other sandboxes.

    Raises:
        OSError: The file cannot be written, or no uid is free.
    """
    uid = assigned(file)
    if uid is not None:
        return uid
    taken = {assigned(other) for other in others}
    for _ in range(ATTEMPTS):
        uid = FIRST + secrets.randbelow(COUNT)
        if uid not in taken:
            new = file.with_name(f"{file.name}.new")
            new.write_text(str(uid))
            new.replace(file)
            return uid
    raise OSError("no user id is free")


def of_process(name: str) -> int:
    """Return the uid of a process outside of sandboxes that reads what one of them has made. No sandbox has it.

    Args:
        name: What it is for. Processes of different names have different users, as far as there are enough of them.
    """
    return FIRST + COUNT + zlib.crc32(name.encode()) % COUNT


def give(directory: Path, uid: int) -> None:
    """Make `uid` the owner of a directory and of all that it contains, unless it owns the directory already.

    Symbolic links are not followed; hard links to files of other owners outside cannot have been made from inside.

    Raises:
        OSError: An owner cannot be changed.
    """
    if directory.lstat().st_uid == uid:
        return
    for _, directories, files, fd in os.fwalk(directory, topdown=False):
        for name in (*directories, *files):
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if found.st_uid != uid:
                os.chown(name, uid, uid, dir_fd=fd, follow_symlinks=False)
                if stat.S_ISREG(found.st_mode) and found.st_mode & (stat.S_ISUID | stat.S_ISGID):
                    os.chmod(name, stat.S_IMODE(found.st_mode) & 0o1777, dir_fd=fd)
    os.chown(directory, uid, uid, follow_symlinks=False)  # last: it marks that all of it is done
