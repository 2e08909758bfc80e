"""Goes through a tree by descriptors: whatever is moved meanwhile, it does not leave the tree, and follows no symlink.

It holds two descriptors for each level and nothing for each entry, so a directory of any size costs the same.
"""

import os
import stat
import time
from collections.abc import Callable, Generator
from typing import NamedTuple

from hawse.rpc import from_oserror
from hawse.wire import HawseError

DEPTH_LIMIT = 128  # directories within each other that are entered: each costs two descriptors
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Names = tuple[str, ...]  # the way from the top, as Python has names


class WalkEntry(NamedTuple):
    """An entry. A directory is told before what is in it."""

    names: Names
    folder: int  # the directory it is in; open until the walk goes on
    status: os.stat_result

    @property
    def path(self) -> str:
        return "/".join(self.names)

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    def target(self) -> str | None:
        """What it points to, if it is a symlink. Raises `OSError` if it no longer is."""
        return os.readlink(self.names[-1], dir_fd=self.folder) if stat.S_ISLNK(self.status.st_mode) else None


class Leave(NamedTuple):
    """All in this directory was told. `folder`: the one it is in."""

    names: Names
    folder: int
    status: os.stat_result


class WalkError(NamedTuple):
    """What could not be looked at. Of a directory that was told, no `Leave` follows."""

    names: Names
    error: HawseError

    @property
    def path(self) -> str:
        return "/".join(self.names)


class _Level(NamedTuple):
    fd: int
    entries: "os._ScandirIterator[str]"
    names: Names
    status: os.stat_result | None  # of the directory; None at the top

    def close(self) -> None:
        self.entries.close()
        os.close(self.fd)


class Turns:
    """When a step has been long enough, so that others get their turn."""

    LENGTH = 0.05  # seconds

    def __init__(self) -> None:
        self._until = time.monotonic() + self.LENGTH

    def due(self) -> bool:
        now = time.monotonic()
        if now < self._until:
            return False
        self._until = now + self.LENGTH
        return True


def walk(
    top: int,
    *,
    depth: int | None = None,
    limit: int = DEPTH_LIMIT,
    enters: Callable[[Names], bool] = lambda names: True,
    skip: tuple[int, int] | None = None,
) -> Generator[WalkEntry | Leave | WalkError | None, None, None]:
    """All in the directory `top`, at most `depth` levels. To be closed if it is not read to its end.

    `enters` says what is looked at; the rest, with all in it, is passed over, and stands as None. So is `skip`, the
    device and inode of a directory. Raises `OSError` if `top` cannot be read.
    """
    levels = [_level(os.open(".", _FLAGS, dir_fd=top), (), None)]
    try:
        while levels:
            level = levels[-1]
            try:
                entry = next(level.entries, None)
            except OSError as error:  # gone, or broken
                if len(levels) == 1:
                    raise
                levels.pop().close()
                yield WalkError(level.names, from_oserror(error))
                continue
            if entry is None:
                levels.pop().close()
                if level.status is not None:
                    yield Leave(level.names, levels[-1].fd, level.status)
                continue
            names = (*level.names, entry.name)
            found = _look(names, level.fd, skip) if enters(names) else None
            yield found
            if isinstance(found, WalkEntry) and found.is_directory and (depth is None or len(names) < depth):
                trouble = _enter(levels, found, limit)
                if trouble is not None:
                    yield trouble
    finally:
        for level in levels:
            level.close()


def _look(names: Names, folder: int, skip: tuple[int, int] | None) -> WalkEntry | WalkError | None:
    try:
        status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None  # it has just gone
    except OSError as error:
        return WalkError(names, from_oserror(error))
    return None if (status.st_dev, status.st_ino) == skip else WalkEntry(names, folder, status)


def _enter(levels: list[_Level], found: WalkEntry, limit: int) -> WalkError | None:
    if len(levels) > limit:
        return WalkError(found.names, HawseError("too_large", f"more than {limit} directories within each other"))
    try:
        fd = os.open(found.names[-1], _FLAGS, dir_fd=found.folder)
        levels.append(_level(fd, found.names, found.status))
    except OSError as error:
        return WalkError(found.names, from_oserror(error))
    return None


def _level(fd: int, names: Names, status: os.stat_result | None) -> _Level:
    try:
        return _Level(fd, os.scandir(fd), names, status)
    except BaseException:
        os.close(fd)
        raise
