"""`file.archive`: sends a directory or file as an archive, which is built while it is being sent."""

import os
import stat
from collections.abc import Callable, Generator
from contextlib import closing, suppress

from hawse.api.files import FileArchive, FileArchiveOpened, FileArchiveResult
from hawse.api.paths import to_text
from hawse.wire import HawseError
from hawse_runtime.files.archive_formats import packer
from hawse_runtime.files.listing import DIRECTORY, entering, filter_of
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.walk import Turns, WalkEntry, WalkError, walk
from hawse_runtime.rpc.generator_stream import StreamEvent, Work

BLOCK = 256 << 10  # bytes per read


def archive(place: RootedPath, params: FileArchive) -> Work:
    """Yield an `opened` event and the archive's bytes.

    Unreadable files are skipped, and files that shrink while being read are padded with zeros. Both are counted.
    """
    wanted = filter_of(params.include, params.exclude)
    name = os.path.basename(place.path) or "root"
    job = _Job(params)
    opened = StreamEvent("opened", FileArchiveOpened(name=to_text(f"{name}.{params.format}")))
    try:
        top = place.open(DIRECTORY)
    except NotADirectoryError:
        yield opened
        yield from job.file(name, place.open, fatal=True)
        return (yield from job.finish())
    try:
        yield opened
        with closing(walk(top, enters=entering(wanted))) as found:
            for item in found:
                if isinstance(item, WalkError):
                    job.failed += 1
                elif isinstance(item, WalkEntry) and wanted.wants(item.names):
                    yield from job.add(item)
                if job.due:
                    yield job.take()
        return (yield from job.finish())
    finally:
        os.close(top)


class _Job:
    """The state of an archive being built."""

    def __init__(self, params: FileArchive) -> None:
        self._packer = packer(params.format)
        self._turns = Turns()
        self.bytes = self.files = self.failed = self.skipped = 0

    @property
    def due(self) -> bool:
        """Whether to end this step, because a block is ready to be sent or enough time has passed."""
        return self._packer.pending >= BLOCK or self._turns.due()

    def take(self) -> bytes:
        data = self._packer.take()
        self.bytes += len(data)
        return data

    def add(self, found: WalkEntry) -> Generator[bytes, None, None]:
        if stat.S_ISREG(found.status.st_mode):
            name = found.names[-1]
            yield from self.file(found.path, lambda flags: _open_at(found.folder, name, flags))
            return
        try:
            target = found.target()
        except OSError:
            self.failed += 1
            return
        if self._packer.begin(found.path, found.status, target):
            self._packer.end()
            self.files += 1
        else:
            self.skipped += 1

    def file(self, name: str, open_: Callable[[int], int], *, fatal: bool = False) -> Generator[bytes, None, None]:
        try:
            fd, status = open_regular(open_)
        except (OSError, HawseError):
            if fatal:
                raise
            self.failed += 1
            return
        try:
            self._packer.begin(name, status, None)
            try:
                yield from self._content(fd, status.st_size)
            finally:
                self._packer.end()
            self.files += 1
        finally:
            os.close(fd)

    def _content(self, fd: int, size: int) -> Generator[bytes, None, None]:
        """Add exactly `size` bytes, as declared in the entry. If the file is now shorter, it is padded with zeros."""
        left, whole = size, True
        while left:
            data = b""
            if whole:
                with suppress(OSError):
                    data = os.read(fd, min(BLOCK, left))
            if not data:
                self.failed += whole
                whole = False
                data = bytes(min(BLOCK, left))
            left -= len(data)
            self._packer.content(data)
            if self.due:
                yield self.take()

    def finish(self) -> Generator[bytes, None, FileArchiveResult]:
        self._packer.finish()
        yield self.take()
        return FileArchiveResult(bytes=self.bytes, files=self.files, failed=self.failed, skipped=self.skipped)


def _open_at(folder: int, name: str, flags: int) -> int:
    return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
