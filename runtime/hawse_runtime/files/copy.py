"""`file.copy`, `file.rename`, `file.move`: copies are written next to the target and renamed once complete."""

import errno
import os
import stat
from collections.abc import Generator
from contextlib import ExitStack, closing, suppress

from hawse.api import Nothing
from hawse.api.files import FileCopy, FileCopyResult, FileMove, FileRename
from hawse.api.paths import to_text
from hawse.wire import HawseError
from hawse_runtime.files.atomic_replace import rename, temporary_name
from hawse_runtime.files.delete import delete_at
from hawse_runtime.files.listing import DIRECTORY
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.walk import Leave, Turns, WalkEntry, WalkError, walk

BLOCK = 8 << 20  # number of bytes the kernel copies per call
HAND_BLOCK = 1 << 20  # number of bytes per read and write if the kernel can't copy
_ELSEWHERE = (
    errno.EXDEV,
    errno.EINVAL,
    errno.ENOSYS,
    errno.EOPNOTSUPP,
    errno.EBADF,
)  # errors from copy_file_range that require copying with reads and writes

Spot = tuple[int, str]  # a directory's descriptor, and a name in that directory


def rename_(source: RootedPath, target: RootedPath, params: FileRename | FileMove) -> Nothing:
    """Rename an entry.

    Raises:
        HawseError: `conflict` if the target exists; `invalid_params` if the target is inside `source` or on another
            mount.
    """
    with source.parent() as (from_fd, name), target.parent() as (to_fd, to):
        try:
            rename((from_fd, name), (to_fd, to), overwrite=params.overwrite)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EXDEV):
                raise
            into_itself = error.errno == errno.EINVAL
            why = "`to` is inside `path`" if into_itself else "`to` is on another file system; use file.move"
            raise HawseError("invalid_params", why, details={"errno": error.errno}) from error
    return Nothing()


def move(source: RootedPath, target: RootedPath, params: FileMove, quota: Quota) -> Generator[None, None, Nothing]:
    try:
        return rename_(source, target, params)
    except HawseError as error:
        if (error.details or {}).get("errno") != errno.EXDEV:
            raise
    copy_ = FileCopy(path=params.path, to=params.to, recursive=True, overwrite=params.overwrite)
    copied = yield from copy(source, target, copy_, quota)
    if copied.skipped:
        raise HawseError("invalid_params", "cannot move sockets and devices; the rest was copied", admitted="yes")
    with source.parent() as (folder, name):
        yield from delete_at(folder, name, recursive=True)
    return Nothing()


def copy(
    source: RootedPath, target: RootedPath, params: FileCopy, quota: Quota
) -> Generator[None, None, FileCopyResult]:
    """Copy an entry.

    Raises:
        HawseError: `is_directory` if `source` is a directory and `recursive` is not set; `conflict` if `target` exists;
            `no_space` if the quota or disk is full.
    """
    with source.parent() as (from_fd, name), target.parent() as (to_fd, to):
        status = os.stat(name, dir_fd=from_fd, follow_symlinks=False)
        directory = stat.S_ISDIR(status.st_mode)
        if directory and not params.recursive:
            raise HawseError("is_directory", "the path is a directory; set `recursive` to copy it")
        overwrite = params.overwrite and not directory
        if not overwrite:
            _check_free(to_fd, to)
        copier = _Copier(quota)
        temporary = temporary_name()
        try:
            if directory:
                yield from copier.tree((from_fd, name), (to_fd, temporary), status)
            elif not (yield from copier.one((from_fd, name), (to_fd, temporary), status)):
                raise HawseError("invalid_params", "sockets and devices cannot be copied", details={"path": "$.path"})
            rename((to_fd, temporary), (to_fd, to), overwrite=overwrite)
        except BaseException:
            quota.add(-copier.bytes)
            with suppress(FileNotFoundError):
                for _ in delete_at(to_fd, temporary, recursive=True):
                    pass
            raise
        return FileCopyResult(files=copier.files, bytes=copier.bytes, skipped=copier.skipped)


class _Copier:
    """Copies entries, counting files, bytes and skipped entries."""

    def __init__(self, quota: Quota) -> None:
        self.files = self.bytes = self.skipped = 0
        self._quota = quota
        self._turns = Turns()

    def tree(self, source: Spot, target: Spot, status: os.stat_result) -> Generator[None, None, None]:
        with ExitStack() as stack:
            into: list[int] = []
            stack.callback(_close_all, into)
            into.append(_made(target))
            top = _opened(source)
            stack.callback(os.close, top)
            own = os.fstat(into[0])
            found = stack.enter_context(closing(walk(top, skip=(own.st_dev, own.st_ino))))
            for item in found:
                if isinstance(item, WalkError):
                    details = {"path": to_text(item.path)}
                    raise HawseError(item.error.code, item.error.message, admitted="yes", details=details)
                if isinstance(item, Leave):
                    _finish(into[-1], item.status)
                    os.close(into.pop())
                elif isinstance(item, WalkEntry):
                    name = item.names[-1]
                    if item.is_directory:
                        into.append(_made((into[-1], name)))
                    elif not (yield from self.one((item.folder, name), (into[-1], name), item.status)):
                        self.skipped += 1
                if self._turns.due():
                    yield
            _finish(into[0], status)

    def one(self, source: Spot, target: Spot, status: os.stat_result) -> Generator[None, None, bool]:
        """Copy an entry. Return whether its type can be copied."""
        (from_fd, name), (to_fd, to) = source, target
        if stat.S_ISLNK(status.st_mode):
            os.symlink(os.readlink(name, dir_fd=from_fd), to, dir_fd=to_fd)
        elif stat.S_ISFIFO(status.st_mode):
            os.mkfifo(to, stat.S_IMODE(status.st_mode), dir_fd=to_fd)
        elif stat.S_ISREG(status.st_mode):
            yield from self._content(source, target)
        else:
            return False
        self.files += 1
        return True

    def _content(self, source: Spot, target: Spot) -> Generator[None, None, None]:
        (from_fd, name), (to_fd, to) = source, target
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        read, status = open_regular(lambda mode: os.open(name, mode | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=from_fd))
        try:
            write = os.open(to, flags, 0o600, dir_fd=to_fd)
            try:
                yield from self._ranges(read, write, status.st_size)
                _finish(write, status)
            finally:
                os.close(write)
        finally:
            os.close(read)

    def _ranges(self, read: int, write: int, size: int) -> Generator[None, None, None]:
        """Copy a file's data, preserving its holes. `size` is the file's size, which is 0 in /proc."""
        at = 0
        while at < size:
            begin, end = _next_data(read, at, size)
            self._count(begin - at)
            at = begin
            while at < end:
                copied = self._block(read, write, at, min(BLOCK, end - at))
                if not copied:  # the file has been truncated in the meantime
                    end = size = at
                at += copied
                if self._turns.due():
                    yield
        while copied := self._block(read, write, at, 0):  # data was appended while copying, or the file reports no size
            at += copied
            if self._turns.due():
                yield
        os.ftruncate(write, at)

    def _block(self, read: int, write: int, at: int, size: int) -> int:
        """Copy up to `size` bytes, or everything if `size` is 0. The kernel copies or shares blocks if it can."""
        self._quota.add(size)
        copied = _copy_range(read, write, at, size) or _copy_by_hand(read, write, at, size or HAND_BLOCK)
        self._quota.add(copied - size)
        self.bytes += copied
        return copied

    def _count(self, hole: int) -> None:
        """Count a hole of `hole` bytes as if it were written."""
        self._quota.add(hole)
        self.bytes += hole


def _next_data(fd: int, at: int, size: int) -> tuple[int, int]:
    """Return the start and end of the next data range at or after `at`. Both are `size` if there is none."""
    try:
        begin = os.lseek(fd, at, os.SEEK_DATA)
        return min(begin, size), min(os.lseek(fd, begin, os.SEEK_HOLE), size)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return size, size
        return at, size  # the file system doesn't support holes


def _copy_range(read: int, write: int, at: int, size: int) -> int:
    try:
        return os.copy_file_range(read, write, size, at, at) if size else 0
    except OSError as error:
        if error.errno not in _ELSEWHERE:
            raise
        return 0


def _copy_by_hand(read: int, write: int, at: int, size: int) -> int:
    """Copy a block with reads and writes, which also works for files that report no size, as in /proc."""
    data = memoryview(os.pread(read, min(size, HAND_BLOCK), at))
    written = 0
    while written < len(data):
        written += os.pwrite(write, data[written:], at + written)
    return written


def _check_free(folder: int, name: str) -> None:
    """Raise `FileExistsError` if the name is taken. `rename` repeats this early check at the end."""
    with suppress(FileNotFoundError):
        os.stat(name, dir_fd=folder, follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _opened(spot: Spot) -> int:
    folder, name = spot
    return os.open(name, DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)


def _made(spot: Spot) -> int:
    folder, name = spot
    os.mkdir(name, 0o700, dir_fd=folder)
    return _opened(spot)


def _close_all(fds: list[int]) -> None:
    for fd in fds:
        os.close(fd)


def _finish(fd: int, status: os.stat_result) -> None:
    """Set the owner (if permitted), mode and times. If the owner can't be set, clear setuid and setgid."""
    mode = stat.S_IMODE(status.st_mode)
    try:
        os.fchown(fd, status.st_uid, status.st_gid)
    except PermissionError:
        mode &= ~(stat.S_ISUID | stat.S_ISGID)
    os.fchmod(fd, mode)
    os.utime(fd, ns=(status.st_atime_ns, status.st_mtime_ns))
