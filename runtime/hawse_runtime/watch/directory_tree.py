"""A watch's directories, and the kernel's events for them. Methods block: call them in threads, one at a time."""

import errno
import os
from collections.abc import Iterator

from hawse.api.paths import to_text
from hawse.api.watches import ChangeType, WatchedChange
from hawse.wire import HawseError
from hawse_runtime.core.globs import Filter
from hawse_runtime.watch import inotify
from hawse_runtime.watch.inotify import Inotify, InotifyEvent

DIRECTORIES_LIMIT = 1 << 16  # maximum number of directories per watch; each takes about 1 KB of kernel memory
TAKEN_LIMIT = 1 << 15  # maximum number of events taken at a time; twice the default maximum queue length in Linux
CHANGES_LIMIT = 1 << 16  # maximum number of changes reported at once; if a larger tree moves, the client must scan it

_MASK = (
    inotify.MODIFY
    | inotify.ATTRIB
    | inotify.MOVED_FROM
    | inotify.MOVED_TO
    | inotify.CREATE
    | inotify.DELETE
    | inotify.DELETE_SELF
    | inotify.MOVE_SELF
    | inotify.ONLY_DIRECTORIES
    | inotify.NO_FOLLOW
    | inotify.NOT_UNLINKED
)
_ADDED = inotify.CREATE | inotify.MOVED_TO
_REMOVED = inotify.DELETE | inotify.MOVED_FROM
_ROOT_REMOVED = inotify.DELETE_SELF | inotify.MOVE_SELF | inotify.UNMOUNT
_PASSING = (
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EACCES,
    errno.ELOOP,
)  # errors for a directory that was deleted or can't be read


class OverflowedError(Exception):
    """Raised when the kernel's queue has overflowed: events were lost, and some directories may not be watched."""


class Directories:
    """The watched directories, keyed by watch descriptor and by path, along with their subdirectories."""

    def __init__(self) -> None:
        self._paths: dict[int, bytes] = {}
        self._wds: dict[bytes, int] = {}
        self._below: dict[bytes, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, wd: int) -> bytes | None:
        return self._paths.get(wd)

    def add(self, path: bytes, wd: int) -> None:
        """Add a directory. If `wd` is already known, the directory was moved."""
        self.remove(wd)
        self._paths[wd] = path
        self._wds[path] = wd
        self._below.setdefault(os.path.dirname(path), set()).add(path)

    def remove(self, wd: int) -> None:
        path = self._paths.pop(wd, None)
        if path is not None and self._wds.get(path) == wd:
            del self._wds[path]
            siblings = self._below[os.path.dirname(path)]
            siblings.discard(path)
            if not siblings:
                del self._below[os.path.dirname(path)]

    def cut(self, path: bytes) -> list[int]:
        """Remove `path` and everything below it. Return the removed watch descriptors."""
        found = []
        waiting = [path]
        while waiting:
            here = waiting.pop()
            waiting += self._below.get(here, ())
            if here in self._wds:
                found.append(self._wds[here])
        for wd in found:
            self.remove(wd)
        return found


class DirectoryTree:
    """The watched directories below a root. Symlinks are not followed."""

    def __init__(self, root: str, filter: Filter, *, recursive: bool, limit: int = DIRECTORIES_LIMIT) -> None:
        """Create a tree, which doesn't watch any directories yet.

        Args:
            root: An absolute path.
            filter: Selects the changes to report, and excludes directories from watching.
            recursive: Whether to watch directories below `root`.
            limit: The maximum number of watched directories.

        Raises:
            HawseError: `limit_exceeded` if the user has too many inotify instances or no descriptor is free.
        """
        self._limit = limit
        self._root = os.fsencode(root)
        self._filter = filter
        self._recursive = recursive
        self.root_removed = False  # whether the root was deleted, moved or unmounted, which ends the events
        self._directories = Directories()
        self._root_wd = -1
        try:
            self._inotify = Inotify()
        except OSError as error:
            raise _limit(error) from None

    @property
    def fd(self) -> int:
        """A descriptor that is readable whenever `take` would return events."""
        return self._inotify.fd

    def __len__(self) -> int:
        return len(self._directories)

    def open(self) -> None:
        """Watch all directories. From the moment this returns, all changes are reported.

        Raises `OSError` if the root cannot be watched, `not_directory` if it is not a directory, or `limit_exceeded`.
        """
        self._root = os.path.realpath(self._root)
        try:
            self._root_wd = self._inotify.add(self._root, _MASK)
        except OSError as error:
            raise (_limit(error) if inotify.is_limit(error) else error) from None
        self._directories.add(self._root, self._root_wd)
        if self._recursive:
            for _ in self._descend(self._root, report=False):
                pass

    def reopen(self) -> None:
        """Start over after an overflow, with an empty queue and a new `fd`. Raises the same errors as `open`."""
        new = Inotify()
        self._inotify.close()
        self._inotify = new
        self._directories = Directories()
        self.open()

    def take(self) -> list[WatchedChange]:
        """Return the changes since the last call, in order. Raises `OverflowedError` or `limit_exceeded`."""
        changes: list[WatchedChange] = []
        taken = 0
        while taken < TAKEN_LIMIT and (events := self._inotify.read()):
            taken += len(events)
            for event in events:
                changes += self._digest(event)
                if len(changes) > CHANGES_LIMIT:
                    raise OverflowedError
        return changes

    def close(self) -> None:
        self._inotify.close()

    # ---- internals

    def _digest(self, event: InotifyEvent) -> Iterator[WatchedChange]:
        if event.mask & inotify.OVERFLOW:
            raise OverflowedError
        if event.wd == self._root_wd and event.mask & _ROOT_REMOVED:
            self.root_removed = True
        if event.mask & inotify.IGNORED:
            self._directories.remove(event.wd)
        directory = self._directories.path(event.wd)
        if directory is None or not event.name:
            return  # the directory is no longer watched, or its parent reports the same event
        path = _join(directory, event.name)
        is_directory = bool(event.mask & inotify.IS_DIRECTORY)
        if event.mask & _REMOVED:
            if is_directory and event.mask & inotify.MOVED_FROM:  # a deleted directory is reported by a separate event
                for wd in self._directories.cut(path):
                    self._inotify.remove(wd)
            yield from self._change("deleted", path, is_directory)
        elif event.mask & _ADDED:
            yield from self._change("added", path, is_directory)
            if is_directory and self._recursive:
                yield from self._descend(path)
        else:
            yield from self._change("modified", path, is_directory)

    def _descend(self, directory: bytes, *, report: bool = True) -> Iterator[WatchedChange]:
        """Watch the directories below `directory`. If `report` is set, report new directories' entries as added.

        Each directory is watched before it is read, so that no entries created in the meantime are missed.
        """
        waiting = [directory]
        while waiting:
            here = waiting.pop()
            if here != self._root and not self._watch(here):
                continue
            for name, is_directory in _entries(here):
                path = _join(here, name)
                if report:
                    yield from self._change("added", path, is_directory)
                if is_directory:
                    waiting.append(path)

    def _watch(self, path: bytes) -> bool:
        if self._filter.excludes(self._names(path)):
            return False
        if len(self._directories) >= self._limit:
            raise HawseError("limit_exceeded", f"more than {self._limit} directories; exclude some of them")
        try:
            self._directories.add(path, self._inotify.add(path, _MASK))
        except OSError as error:
            if inotify.is_limit(error):
                raise _limit(error) from None
            if error.errno not in _PASSING:
                raise
            return False
        return True

    def _change(self, kind: ChangeType, path: bytes, is_directory: bool) -> Iterator[WatchedChange]:
        if self._filter.wants(self._names(path)):
            yield WatchedChange(kind, to_text(os.fsdecode(path)), is_directory)

    def _names(self, path: bytes) -> list[str]:
        return os.fsdecode(path[len(self._root.rstrip(b"/")) + 1 :]).split("/")


def _join(directory: bytes, name: bytes) -> bytes:
    return directory.rstrip(b"/") + b"/" + name


def _entries(directory: bytes) -> list[tuple[bytes, bool]]:
    try:
        with os.scandir(directory) as entries:
            return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError:  # the directory was deleted or can't be read
        return []


def _limit(error: OSError) -> HawseError:
    return HawseError("limit_exceeded", f"cannot add more watches: {error.strerror}", details={"errno": error.errno})
