"""The host user of a sandbox: a separate one if the gateway is the superuser, otherwise the gateway's user."""

import os
import secrets
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FIRST: Final = 1_879_048_192  # systemd documents the range up to the end of 31 bits as unused by any system
COUNT: Final = 1 << 27
ATTEMPTS: Final = 100  # random choices; the probability that a choice is taken is (sandboxes / COUNT)


def assigned(file: Path) -> int | None:
    """Return the uid written by `choose`, or None if it is missing or invalid."""
    try:
        uid = int(file.read_text())
    except (OSError, ValueError):
        return None
    return uid if FIRST <= uid < FIRST + COUNT else None


def choose(file: Path, others: Iterable[Path]) -> int:
    """Return a sandbox's uid. It is chosen at the first start and kept in `file`.

    Args:
        file: The file that stores it.
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
    """Return the uid of a process outside sandboxes that reads data created in one. No sandbox has this uid.

    Args:
        name: The purpose. Different names get different users, as far as there are enough.
    """
    return FIRST + COUNT + zlib.crc32(name.encode()) % COUNT


def give(directory: Path, uid: int) -> None:
    """Give a directory and its contents to `uid`, unless it owns the directory already.

    Symbolic links are not followed. Hard links to other owners' files outside cannot be created from inside.

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
    os.chown(directory, uid, uid, follow_symlinks=False)  # last, because it marks completion
