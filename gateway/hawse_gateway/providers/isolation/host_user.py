"""A sandbox's user on the host: a separate user if the gateway runs as root, otherwise the gateway's own user."""

import os
import secrets
import stat
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

FIRST: Final = 1_879_048_192  # lowest uid; no known system assigns higher 31-bit ids (see systemd's documentation)
COUNT: Final = 1 << 27
ATTEMPTS: Final = 100  # maximum number of random choices; each is already taken with probability sandboxes / COUNT


def assigned(file: Path) -> int | None:
    """Return the uid stored by `choose`, or None if it is missing or invalid."""
    try:
        uid = int(file.read_text())
    except (OSError, ValueError):
        return None
    return uid if FIRST <= uid < FIRST + COUNT else None


def choose(file: Path, others: Iterable[Path]) -> int:
    """Return a sandbox's uid. The first call chooses a uid and stores it in `file`.

    Args:
        file: The file where the uid is stored.
        others: The corresponding files for other sandboxes.

    Raises:
        OSError: The file can't be written, or no uid is free.
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
    """Return the uid for a process that handles a sandbox's data outside the sandbox. No sandbox has this uid.

    Args:
        name: The purpose of the process. Different purposes get different users, if enough users are available.
    """
    return FIRST + COUNT + zlib.crc32(name.encode()) % COUNT


def give(directory: Path, uid: int) -> None:
    """Change the owner of a directory and its contents to `uid`, unless `uid` owns the directory.

    Symbolic links are not followed. Hard links are safe, because programs in the sandbox can't create hard links to
    other users' files.

    Raises:
        OSError: An owner can't be changed.
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
    # The directory itself comes last, because the next call skips a directory that `uid` already owns.
    os.chown(directory, uid, uid, follow_symlinks=False)
