"""Walks a tree using descriptors, so that moving a directory can't lead out of the tree. Doesn't follow symlinks.

A walk holds two descriptors per level but no memory per entry, so directories can be any size.
"""

import os
import stat
import time
from collections.abc import Callable, Generator
from typing import NamedTuple

from hawse.rpc import from_oserror
from hawse.wire import HawseError

DEPTH_LIMIT = 128  # maximum directory depth; each level needs two descriptors
_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Names = tuple[str, ...]  # the path relative to the top directory, as Python file names


class WalkEntry(NamedTuple):
    """An entry in a tree. A directory is yielded before its contents."""

    names: Names
    folder: int  # the parent directory's descriptor, open until the next step
    status: os.stat_result

    @property
    def path(self) -> str:
        return "/".join(self.names)

    @property
    def is_directory(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    def target(self) -> str | None:
        """Return a symlink's target, or None for other types. Raises `OSError` if the symlink was replaced."""
        return os.readlink(self.names[-1], dir_fd=self.folder) if stat.S_ISLNK(self.status.st_mode) else None


class Leave(NamedTuple):
    """Marks the end of a directory, after all its entries. `folder` is its parent's descriptor."""

    names: Names
    folder: int
    status: os.stat_result


class WalkError(NamedTuple):
    """An entry that can't be read. If it is a directory that has already been yielded, no `Leave` follows."""

    names: Names
    error: HawseError

    @property
    def path(self) -> str:
        return "/".join(self.names)


class _Level(NamedTuple):
    fd: int
    entries: "os._ScandirIterator[str]"
    names: Names
    status: os.stat_result | None  # the directory's state; None at the top

    def close(self) -> None:
        self.entries.close()
        os.close(self.fd)


TURN_LENGTH = 0.05  # maximum number of seconds that other work waits for a thread


class Turns:
    """Determines when a step has taken long enough, so that the thread pool can run other work."""

    def __init__(self, length: float = TURN_LENGTH) -> None:
        """Start the first turn. `length` is the length of a turn in seconds."""
        self._length = length
        self._until = time.monotonic() + length

    def due(self) -> bool:
        now = time.monotonic()
        if now < self._until:
            return False
        self._until = now + self._length
        return True


def walk(
    top: int,
    *,
    depth: int | None = None,
    limit: int = DEPTH_LIMIT,
    enters: Callable[[Names], bool] = lambda names: True,
    skip: tuple[int, int] | None = None,
) -> Generator[WalkEntry | Leave | WalkError | None, None, None]:
    """Yield a tree's entries. The caller must close the generator unless it was exhausted.

    Args:
        top: The top directory's descriptor, which the caller owns and keeps open.
        depth: The number of levels to yield; None means all.
        limit: The maximum number of levels. Deeper directories yield a `WalkError` with `too_large`.
        enters: Returns whether to yield an entry. If not, None is yielded instead and the entry's contents are skipped.
        skip: The device and inode of a directory to skip.

    Raises:
        OSError: `top` can't be read.
    """
    levels = [_level(os.open(".", _FLAGS, dir_fd=top), (), None)]
    try:
        while levels:
            level = levels[-1]
            try:
                entry = next(level.entries, None)
            except OSError as error:  # the directory was removed, or the disk failed
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
                failure = _enter(levels, found, limit)
                if failure is not None:
                    yield failure
    finally:
        for level in levels:
            level.close()


def _look(names: Names, folder: int, skip: tuple[int, int] | None) -> WalkEntry | WalkError | None:
    try:
        status = os.stat(names[-1], dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None  # the entry was removed in the meantime
    except OSError as error:
        return WalkError(names, from_oserror(error))
    return None if (status.st_dev, status.st_ino) == skip else WalkEntry(names, folder, status)


def _enter(levels: list[_Level], found: WalkEntry, limit: int) -> WalkError | None:
    if len(levels) > limit:
        return WalkError(found.names, HawseError("too_large", f"the path has more than {limit} levels of directories"))
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
