"""`file.list`: what is in a directory, in batches."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing

from hawse.api.files import FileEntries, FileEntry, FileFailure, FileList, FileListResult
from hawse.api.paths import from_text, to_text
from hawse.wire import HawseError
from runtime.core.globs import Filter
from runtime.files.rooted_path import RootedPath
from runtime.files.stat import entry
from runtime.files.walk import Names, Turns, WalkEntry, WalkError, walk
from runtime.rpc.generator_stream import StreamEvent, Work

BATCH = 64 << 10  # characters of an event: also where each takes six bytes it fits into a control message
OVERHEAD = 150  # of an entry without its path
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK


def filter_of(include: Sequence[str] | None, exclude: Sequence[str] | None) -> Filter:
    """Raises `invalid_params`."""
    try:
        return Filter([from_text(glob) for glob in include or ()], [from_text(glob) for glob in exclude or ()])
    except ValueError as error:
        raise HawseError("invalid_params", str(error)) from None


def failed(trouble: WalkError) -> StreamEvent:
    """The event that says so."""
    return StreamEvent(
        "failed", FileFailure(path=to_text(trouble.path), code=trouble.error.code, message=trouble.error.message)
    )


def entering(filter_: Filter, hidden: bool = True) -> Callable[[Names], bool]:
    """Which entries a walk looks at, for `walk`."""
    return lambda names: (hidden or not names[-1].startswith(".")) and not filter_.excludes(names)


def listing(place: RootedPath, params: FileList) -> Work:
    """Told entry by entry as the disk has them, so that a directory of any size costs the same memory."""
    wanted = filter_of(params.include, params.exclude)
    depth = params.depth if params.recursive else 1
    batch = _Batch()
    count = failures = 0
    turns = Turns()
    top = place.open(DIRECTORY)
    try:
        with closing(walk(top, depth=depth, enters=entering(wanted, params.hidden))) as found:
            for item in found:
                if isinstance(item, WalkError):
                    failures += 1
                    yield failed(item)
                elif isinstance(item, WalkEntry) and wanted.wants(item.names):
                    told = _entry(item)
                    if not batch.fits(told):
                        yield batch.take()
                    batch.add(told)
                    count += 1
                if turns.due():
                    yield batch.take()
        yield batch.take()
        return FileListResult(entries=count, failed=failures)
    finally:
        os.close(top)


class _Batch:
    """Entries that are told together."""

    def __init__(self) -> None:
        self._entries: list[FileEntry] = []
        self._size = 0

    def fits(self, told: FileEntry) -> bool:
        return not self._entries or self._size + _size(told) <= BATCH

    def add(self, told: FileEntry) -> None:
        self._entries.append(told)
        self._size += _size(told)

    def take(self) -> StreamEvent | None:
        entries, self._entries, self._size = self._entries, [], 0
        return StreamEvent("entries", FileEntries(entries=entries)) if entries else None


def _size(told: FileEntry) -> int:
    return len(told.path) + len(told.target or "") + OVERHEAD


def _entry(found: WalkEntry) -> FileEntry:
    try:
        target = found.target()
    except OSError:  # it was one when it was looked at
        target = None
    return entry(found.path, found.status, target)
