"""The directories of one watch and the kernel's events for them. It blocks: used in threads, one call at a time."""

import errno
import os
from collections.abc import Iterator

from hawse.api.paths import to_text
from hawse.api.watches import ChangeType, WatchedChange
from hawse.wire import HawseError
from hawse_runtime.core.globs import Filter
from hawse_runtime.watch import inotify
from hawse_runtime.watch.inotify import Inotify, InotifyEvent

DIRECTORIES_LIMIT = 1 << 16  # of one watch: each costs the kernel about 1 KB
TAKEN_LIMIT = 1 << 15  # events taken at a time: twice the longest queue that Linux keeps by default
CHANGES_LIMIT = 1 << 16  # changes reported at a time: a larger tree that is moved here must be scanned by the client

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
)  # a directory that was deleted, or that the runtime may not read


class OverflowedError(Exception):
    """The kernel's queue overflowed: events are lost, and there may be directories that are not watched."""


class Directories:
    """The watched directories: by the kernel's descriptor, by path, and with their subdirectories."""

    def __init__(self) -> None:
        self._paths: dict[int, bytes] = {}
        self._wds: dict[bytes, int] = {}
        self._below: dict[bytes, set[bytes]] = {}

    def __len__(self) -> int:
        return len(self._paths)

    def path(self, wd: int) -> bytes | None:
        return self._paths.get(wd)

    def add(self, path: bytes, wd: int) -> None:
        """Add a directory. If its `wd` is known, the directory was moved."""
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
        """Forget `path` and all below it; return their descriptors."""
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
    """The watched directories below one root. Symlinks are not followed."""

    def __init__(self, root: str, filter: Filter, *, recursive: bool, limit: int = DIRECTORIES_LIMIT) -> None:
        """Create a tree that watches nothing yet.

        Args:
            root: An absolute path.
            filter: Which changes are reported, and which directories are not watched.
            recursive: Whether the directories below `root` are watched.
            limit: How many directories are watched at most.

        Raises:
            HawseError: `limit_exceeded` if the user has too many inotify instances, or no descriptor is free.
        """
        self._limit = limit
        self._root = os.fsencode(root)
        self._filter = filter
        self._recursive = recursive
        self.root_removed = False  # the root itself was deleted, moved or unmounted: no more events will come
        self._directories = Directories()
        self._root_wd = -1
        try:
            self._inotify = Inotify()
        except OSError as error:
            raise _limit(error) from None

    @property
    def fd(self) -> int:
        """Readable when there is something to `take`."""
        return self._inotify.fd

    def __len__(self) -> int:
        return len(self._directories)

    def open(self) -> None:
        """Watch all directories. When this returns, every later change is reported.

        Raises `OSError` for the root, `not_directory`, and `limit_exceeded`.
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
        """Start again after an overflow, with an empty queue and another `fd`. Raises as `open`."""
        new = Inotify()
        self._inotify.close()
        self._inotify = new
        self._directories = Directories()
        self.open()

    def take(self) -> list[WatchedChange]:
        """Return the changes since the last call, in order. Raises `OverflowedError` and `limit_exceeded`."""
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

    # ---- inside

    def _digest(self, event: InotifyEvent) -> Iterator[WatchedChange]:
        if event.mask & inotify.OVERFLOW:
            raise OverflowedError
        if event.wd == self._root_wd and event.mask & _ROOT_REMOVED:
            self.root_removed = True
        if event.mask & inotify.IGNORED:
            self._directories.remove(event.wd)
        directory = self._directories.path(event.wd)
        if directory is None or not event.name:
            return  # a directory that is no longer watched, or a watched one itself: its parent has an event of it too
        path = _join(directory, event.name)
        is_directory = bool(event.mask & inotify.IS_DIRECTORY)
        if event.mask & _REMOVED:
            if is_directory and event.mask & inotify.MOVED_FROM:  # a deleted directory has an event of its own
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
        """Watch the directories below. The entries of a new directory are reported as new as well.

        A directory is watched before it is read, so that an entry that is made meanwhile is noticed in either way.
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
            raise HawseError("limit_exceeded", f"more than {self._limit} directories: exclude some")
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
    except OSError:  # deleted, or not readable
        return []


def _limit(error: OSError) -> HawseError:
    return HawseError("limit_exceeded", f"no more watches: {error.strerror}", details={"errno": error.errno})
