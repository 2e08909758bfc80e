"""`backup.pack`: sends a directory as an archive, which is built while it is being sent."""

import errno
import os
import re
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from typing import Final

from hawse import zstd
from hawse.api.backups import BackupPack, BackupPackResult, BackupProgress
from hawse.api.paths import to_text
from hawse.rpc import from_oserror
from hawse.wire import HawseError
from hawse_runtime.backup.archive_format import BackupArchive, Extent, has_type
from hawse_runtime.files.atomic_replace import MARK
from hawse_runtime.files.listing import DIRECTORY, filter_of
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.walk import Names, Turns, WalkEntry, WalkError, walk
from hawse_runtime.posix.mount_points import mount_points_below
from hawse_runtime.rpc.generator_stream import StreamEvent, Work

BLOCK: Final = 256 << 10  # bytes per read
PROGRESS_INTERVAL: Final = 0.25  # minimum number of seconds between events
LINKS_MAX: Final = 1_000_000  # maximum number of hard-linked files, whose names are kept in memory
EXTENTS_MAX: Final = 10_000  # maximum number of extents per file; holes after that are stored as zeros
XATTRS_MAX: Final = 512 << 10  # maximum size of a file's extended attributes, in bytes
OWN: Final = ".hawse"  # the runtime's directory for recordings, which is not part of the user's files
_TEMPORARY: Final = re.compile(re.escape(MARK) + r"(restore-)?[0-9a-f]{16}")  # names of unfinished uploads and restores
_OPEN: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FORMATS: Final = {"none": "tar", "gzip": "tar.gz", "zstd": "tar.zst"}
_NO_XATTRS: Final = (errno.ENOTSUP, errno.ENODATA, errno.EPERM, errno.EACCES)

Packed = Generator[StreamEvent | bytes | None, None, None]
Ignored = Callable[[Names], bool]


def pack(place: RootedPath, params: BackupPack, ignored: Ignored = lambda names: False, *, own: bool = False) -> Work:
    """Yield `progress` events and the bytes of the archive.

    Args:
        place: The directory to pack.
        params: The exclusions and the compression to use.
        ignored: Returns whether a path is ignored by git.
        own: Whether the directory is the workspace. If so, the paths in `OWN` are excluded.
    """
    wanted = filter_of(None, params.exclude)
    served: set[Names] = set()  # mounted buckets, which are not part of the sandbox's files

    def enters(names: Names) -> bool:
        if names in served or (own and names[0] == OWN):
            return False
        return not (_TEMPORARY.fullmatch(names[-1]) or wanted.excludes(names) or ignored(names))

    top = place.open(DIRECTORY)
    try:
        served.update(point.names for point in mount_points_below(top) if point.is_fuse)
        job = _Packing(params)
        job.directory(".", os.fstat(top), top)
        with closing(walk(top, enters=enters)) as found:
            for item in found:
                if isinstance(item, WalkError):
                    raise _failed(item.path, item.error)
                if isinstance(item, WalkEntry):
                    yield from job.add(item)
                yield from job.pause()
        return (yield from job.finish())
    finally:
        os.close(top)


class _Packing:
    """The state of an archive being packed."""

    def __init__(self, params: BackupPack) -> None:
        compression = params.compression or ("zstd" if zstd.is_available() else "gzip")
        self._archive = BackupArchive(compression)
        self._format = _FORMATS[compression]
        self._links: dict[tuple[int, int], str] = {}  # each hard-linked file's first name, keyed by device and inode
        self._turns = Turns()
        self._reports = Turns(PROGRESS_INTERVAL)
        self.entries = self.bytes = self.changed = self.skipped = 0

    def pause(self) -> Packed:
        """Yield pending bytes and let other work run."""
        if self._archive.pending >= BLOCK:
            yield self._archive.take()
        if self._reports.due():
            yield StreamEvent("progress", BackupProgress(phase="packing", entries=self.entries, bytes=self.bytes))
        elif self._turns.due():
            yield None

    def finish(self) -> Generator[StreamEvent | bytes | None, None, BackupPackResult]:
        self._archive.finish()
        yield self._archive.take()
        return BackupPackResult(
            format=self._format,
            size=self._archive.size,
            sha256=self._archive.sha256,
            entries=self.entries,
            bytes=self.bytes,
            changed=self.changed,
            skipped=self.skipped,
        )

    def add(self, found: WalkEntry) -> Packed:
        """Add an entry, or skip it if it has been removed in the meantime."""
        mode = found.status.st_mode
        try:
            if stat.S_ISREG(mode):
                yield from self._file(found)
            elif stat.S_ISDIR(mode):
                with suppress(FileNotFoundError):
                    fd = os.open(found.names[-1], _OPEN | os.O_DIRECTORY, dir_fd=found.folder)
                    try:
                        self.directory(found.path, found.status, fd)
                    finally:
                        os.close(fd)
            elif has_type(found.status):
                self._archive.begin(found.path, found.status, target=found.target() or "")
                self.entries += 1
            else:
                self.skipped += 1
        except OSError as error:
            if error.errno != errno.ENOENT:
                raise _failed(found.path, from_oserror(error)) from error

    def directory(self, name: str, status: os.stat_result, fd: int) -> None:
        self._archive.begin(name, status, xattrs=self._xattrs(name, fd))
        self.entries += 1

    def _file(self, found: WalkEntry) -> Packed:
        fd = os.open(found.names[-1], _OPEN, dir_fd=found.folder)
        try:
            status = os.fstat(fd)
            if not stat.S_ISREG(status.st_mode):  # the entry was replaced
                self.changed += 1
                return
            if status.st_nlink > 1 and self._linked(found.path, status):
                return
            extents = _extents(fd, status)
            self._archive.begin(found.path, status, xattrs=self._xattrs(found.path, fd), extents=extents)
            whole = True
            for offset, length in [(0, status.st_size)] if extents is None else extents:
                whole = (yield from self._content(fd, offset, length)) and whole
            self._archive.end()
            after = os.fstat(fd)
            self.changed += not whole or _state(after) != _state(status)
            self.entries += 1
        finally:
            os.close(fd)

    def _content(self, fd: int, offset: int, length: int) -> Generator[StreamEvent | bytes | None, None, bool]:
        """Add exactly `length` bytes, as declared in the entry. If the file is shorter, add zeros and return False."""
        end, whole = offset + length, True
        while offset < end:
            data = os.pread(fd, min(BLOCK, end - offset), offset) if whole else b""
            if not data:
                whole = False
                data = bytes(min(BLOCK, end - offset))
            offset += len(data)
            self.bytes += len(data)
            self._archive.content(data)
            yield from self.pause()
        return whole

    def _linked(self, name: str, status: os.stat_result) -> bool:
        """Add a hard link if the file is already in the archive; otherwise, record its name."""
        inode = (status.st_dev, status.st_ino)
        earlier = self._links.get(inode)
        if earlier is not None:
            self._archive.link(name, status, earlier)
            self.entries += 1
            return True
        if len(self._links) >= LINKS_MAX:
            raise HawseError("too_large", f"more than {LINKS_MAX} files have several hard links")
        self._links[inode] = name
        return False

    def _xattrs(self, name: str, fd: int) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        try:
            keys = os.listxattr(fd)
        except OSError:  # the file system doesn't support extended attributes
            return found
        for key in keys:
            if "=" in key or not key.isprintable() or key == "security.selinux":
                self.skipped += 1  # the name is not valid in PAX, or the attribute is only valid on this machine
                continue
            try:
                found[key] = os.getxattr(fd, key)
            except OSError as error:
                if error.errno not in _NO_XATTRS:
                    raise
        if sum(map(len, found.values())) > XATTRS_MAX:
            raise HawseError("too_large", f"{to_text(name)} has more than {XATTRS_MAX} bytes of extended attributes")
        return found


def _extents(fd: int, status: os.stat_result) -> list[Extent] | None:
    """Return a file's data ranges (lseek(2), SEEK_DATA), or None if it has no holes."""
    if status.st_blocks * 512 >= status.st_size:
        return None
    found: list[Extent] = []
    try:
        for start, end in _data(fd, status.st_size):
            if len(found) == EXTENTS_MAX:
                found[-1] = (found[-1][0], status.st_size - found[-1][0])
                break
            found.append((start, end - start))
    except OSError:  # the file system doesn't support holes
        return None
    return None if found == [(0, status.st_size)] else found


def _data(fd: int, size: int) -> Iterator[tuple[int, int]]:
    at = 0
    while at < size:
        try:
            start = os.lseek(fd, at, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # only a hole is left in the file
                return
            raise
        if start >= size:
            return
        at = min(os.lseek(fd, start, os.SEEK_HOLE), size)
        yield start, at


def _state(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns


def _failed(path: str, error: HawseError) -> HawseError:
    text = to_text(path)
    return HawseError(error.code, f"{text}: {error.message}", details={"entry": text}, admitted="yes")
