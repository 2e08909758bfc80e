"""`file.list`: lists a directory in batches."""

import os
from collections.abc import Callable, Sequence
from contextlib import closing

from hawse.api.files import FileEntries, FileEntry, FileFailure, FileList, FileListResult
from hawse.api.paths import from_text, to_text
from hawse.wire import HawseError
from hawse_runtime.core.globs import Filter
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.stat import entry
from hawse_runtime.files.walk import Names, Turns, WalkEntry, WalkError, walk
from hawse_runtime.rpc.generator_stream import StreamEvent, Work

BATCH = 64 << 10  # number of characters per event; fits into a control message even at six bytes per character
OVERHEAD = 150  # maximum length of an encoded entry without its path, in characters
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NONBLOCK


def filter_of(include: Sequence[str] | None, exclude: Sequence[str] | None) -> Filter:
    """Return a filter for lists of globs. Raises `invalid_params` if any glob is invalid."""
    try:
        return Filter([from_text(glob) for glob in include or ()], [from_text(glob) for glob in exclude or ()])
    except ValueError as error:
        raise HawseError("invalid_params", str(error)) from None


def failed(failure: WalkError) -> StreamEvent:
    """Return an event for an entry that can't be read."""
    return StreamEvent(
        "failed", FileFailure(path=to_text(failure.path), code=failure.error.code, message=failure.error.message)
    )


def entering(filter_: Filter, hidden: bool = True) -> Callable[[Names], bool]:
    """Return a function to pass to `walk` as `enters`, which skips entries excluded by a filter."""
    return lambda names: (hidden or not names[-1].startswith(".")) and not filter_.excludes(names)


def listing(place: RootedPath, params: FileList) -> Work:
    """Yield the entries in disk order. Memory use doesn't depend on the directory's size."""
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
                    listed = _entry(item)
                    if not batch.fits(listed):
                        yield batch.take()
                    batch.add(listed)
                    count += 1
                if turns.due():
                    yield batch.take()
        yield batch.take()
        return FileListResult(entries=count, failed=failures)
    finally:
        os.close(top)


class _Batch:
    """Entries to send in one event."""

    def __init__(self) -> None:
        self._entries: list[FileEntry] = []
        self._size = 0

    def fits(self, listed: FileEntry) -> bool:
        return not self._entries or self._size + _size(listed) <= BATCH

    def add(self, listed: FileEntry) -> None:
        self._entries.append(listed)
        self._size += _size(listed)

    def take(self) -> StreamEvent | None:
        entries, self._entries, self._size = self._entries, [], 0
        return StreamEvent("entries", FileEntries(entries=entries)) if entries else None


def _size(listed: FileEntry) -> int:
    return len(listed.path) + len(listed.target or "") + OVERHEAD


def _entry(found: WalkEntry) -> FileEntry:
    try:
        target = found.target()
    except OSError:  # the entry was a symlink when its state was read, but has since been replaced
        target = None
    return entry(found.path, found.status, target)
