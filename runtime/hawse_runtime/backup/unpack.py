"""`backup.unpack`: restores a directory from an archive. If that fails, the directory is left unchanged."""

import errno
import hashlib
import os
import stat
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from typing import IO, Final, cast

from hawse.api.backups import BackupProgress, BackupRestoreResult, BackupUnpack
from hawse.api.paths import to_text
from hawse.wire import HawseError
from hawse_runtime.backup.archive_format import Extent, mtime_ns, xattrs_of
from hawse_runtime.backup.directory_swap import replacing
from hawse_runtime.backup.pack import EXTENTS_MAX, OWN
from hawse_runtime.files.archive_reader import damaged, decompressed, next_entry
from hawse_runtime.files.quota import Quota
from hawse_runtime.files.read import open_regular
from hawse_runtime.files.rooted_path import RootedPath, open_beneath
from hawse_runtime.files.walk import Turns
from hawse_runtime.posix.mount_points import mount_points_below
from hawse_runtime.rpc.generator_stream import StreamEvent, Work

BLOCK: Final = 256 << 10  # bytes per read
DEPTH_MAX: Final = 256  # maximum directory depth; `pack` never writes deeper trees
PROGRESS_INTERVAL: Final = 0.25  # seconds between events
_DIRECTORY: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_REFUSED: Final = (errno.EPERM, errno.EACCES, errno.ENOTSUP, errno.EINVAL)

Names = tuple[str, ...]
Pauses = Iterator[StreamEvent | None]


def unpack(
    archive: RootedPath, target: RootedPath, params: BackupUnpack, quota: Quota, *, in_place: bool = False
) -> Work:
    """Unpack an archive next to the target, then replace the target. Yields `progress` events.

    Args:
        archive: The archive to unpack.
        target: The directory to replace.
        params: The archive's expected digest.
        quota: Counts the bytes written.
        in_place: Whether the directory itself must stay in place, so that only its entries are replaced.

    Raises:
        HawseError: `io_error` if the archive has a different digest; `no_space` if the quota or disk is full;
            `not_directory` if the target is not a directory; `conflict` if files are being created in it or a file
            system is mounted in it.
    """
    fd, _ = open_regular(archive.open)
    try:
        _refuse_mounts(target)
        yield from _verify(fd, params.sha256)
        _refuse_mounts(target)
        kept = frozenset((OWN,)) if in_place else frozenset()
        if os.path.dirname(archive.path) == target.path:
            kept |= {os.path.basename(archive.path)}
        with replacing(target, kept, in_place=in_place) as swap:
            job = _Unpacking(swap.new, quota, OWN if in_place else None)
            yield from job.run(fd)
            swap.commit()
            return BackupRestoreResult(entries=job.entries, bytes=job.bytes, skipped=job.skipped)
    finally:
        os.close(fd)


def _refuse_mounts(target: RootedPath) -> None:
    """Raise `conflict` if a file system is mounted in the target: unpacking would delete the mounted files, even in a
    bucket.
    """
    try:
        fd = target.open(_DIRECTORY)
    except (FileNotFoundError, NotADirectoryError):
        return  # there is nothing to delete, or the target will be rejected later
    try:
        points = mount_points_below(fd)
    finally:
        os.close(fd)
    if points:
        path = to_text("/".join(points[0].names))
        raise HawseError("conflict", f"{path} is a mount; delete the mount first (see `hawse mount ls`)", admitted="no")


def _verify(fd: int, wanted: str) -> Pauses:
    digest, turns, reports, offset = hashlib.sha256(), Turns(), Turns(PROGRESS_INTERVAL), 0
    while data := os.pread(fd, BLOCK, offset):
        digest.update(data)
        offset += len(data)
        if reports.due():
            yield StreamEvent("progress", BackupProgress(phase="unpacking"))
        elif turns.due():
            yield None
    if digest.hexdigest() != wanted:
        text = f"the archive is damaged: its SHA-256 is {digest.hexdigest()}, expected {wanted}"
        raise HawseError("io_error", text, admitted="yes")


class _Unpacking:
    """Unpacks an archive into a directory and counts the entries."""

    def __init__(self, root: int, quota: Quota, left_out: str | None = None) -> None:
        """Prepare to unpack into `root`, except for the entry `left_out` and everything below it."""
        self._root = root
        self._left_out = left_out
        self._quota = quota
        self._turns = Turns()
        self._reports = Turns(PROGRESS_INTERVAL)
        self._directories: list[tuple[Names, tarfile.TarInfo]] = []  # modes and times of directories are set last
        self.entries = self.bytes = self.skipped = 0

    def run(self, fd: int) -> Pauses:
        stream = decompressed(fd)
        with damaged(), stream.headers():
            tar = tarfile.open(  # noqa: SIM115  # it is closed below
                fileobj=cast("IO[bytes]", stream),
                mode="r:",
                encoding="utf-8",
                errors="surrogateescape",
                errorlevel=2,
            )
        with tar:
            while (info := next_entry(tar, stream)) is not None:
                if self._left_out is not None and parts(info.name)[:1] == (self._left_out,):
                    continue
                yield from self._add(tar, info)
                self.entries += 1
                yield from self._pause()
        for names, info in reversed(self._directories):
            self._finish(open_beneath(self._root, "/".join(names) or ".", os.O_RDONLY | os.O_DIRECTORY), info)
            yield from self._pause()

    def _pause(self) -> Pauses:
        if self._reports.due():
            yield StreamEvent("progress", BackupProgress(phase="unpacking", entries=self.entries, bytes=self.bytes))
        elif self._turns.due():
            yield None

    def _add(self, tar: tarfile.TarFile, info: tarfile.TarInfo) -> Pauses:
        names = parts(info.name)
        if info.isdir():
            if names:
                folder = self._open_directory(names[:-1])
                try:
                    os.mkdir(names[-1], 0o700, dir_fd=folder)
                finally:
                    os.close(folder)
            self._directories.append((names, info))
            return
        if not names:
            raise _wrong(info.name)
        folder = self._open_directory(names[:-1])
        try:
            if info.isfile():
                yield from self._file(tar, info, folder, names[-1])
            elif info.islnk():
                self._link(info, folder, names[-1])
            elif info.issym():
                os.symlink(info.linkname, names[-1], dir_fd=folder)
                self._set_owner_of_link(info, folder, names[-1])
            elif info.isfifo():
                os.mkfifo(names[-1], 0o600, dir_fd=folder)
                self._finish(os.open(names[-1], os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW, dir_fd=folder), info)
            else:
                raise _wrong(info.name)
        finally:
            os.close(folder)

    def _open_directory(self, names: Names) -> int:
        return open_beneath(self._root, "/".join(names) or ".", _DIRECTORY)

    def _file(self, tar: tarfile.TarFile, info: tarfile.TarInfo, folder: int, name: str) -> Pauses:
        content = tar.extractfile(info)
        assert content is not None
        fd = os.open(name, _NEW, 0o600, dir_fd=folder)
        try:
            for offset, length in _extents(info):
                end = offset + length
                os.lseek(fd, offset, os.SEEK_SET)
                with damaged():
                    content.seek(offset)
                while offset < end:
                    with damaged():
                        data = content.read(min(BLOCK, end - offset))
                    if not data:
                        raise _wrong(info.name)
                    offset += len(data)
                    self._quota.add(len(data))
                    _write(fd, data)
                    self.bytes += len(data)
                    yield from self._pause()
            os.ftruncate(fd, info.size)
        except BaseException:
            os.close(fd)
            raise
        self._finish(fd, info)

    def _link(self, info: tarfile.TarInfo, folder: int, name: str) -> None:
        source = parts(info.linkname)
        if not source:
            raise _wrong(info.name)
        above = self._open_directory(source[:-1])
        try:
            if not stat.S_ISREG(os.stat(source[-1], dir_fd=above, follow_symlinks=False).st_mode):
                raise _wrong(info.name)
            os.link(source[-1], name, src_dir_fd=above, dst_dir_fd=folder, follow_symlinks=False)
        finally:
            os.close(above)

    def _set_owner_of_link(self, info: tarfile.TarInfo, folder: int, name: str) -> None:
        if os.geteuid() == 0:
            with suppress(OSError):
                os.chown(name, info.uid, info.gid, dir_fd=folder, follow_symlinks=False)
        time = mtime_ns(info)
        os.utime(name, ns=(time, time), dir_fd=folder, follow_symlinks=False)

    def _finish(self, fd: int, info: tarfile.TarInfo) -> None:
        """Set an open file's owner, extended attributes, mode and time, and close it."""
        try:
            if os.geteuid() == 0:
                with suppress(OSError):  # the owner doesn't exist in the user namespace
                    os.fchown(fd, info.uid, info.gid)
            for key, value in xattrs_of(info).items():
                try:
                    os.setxattr(fd, key, value)
                except OSError as error:
                    if error.errno not in _REFUSED:
                        raise
                    self.skipped += 1
            os.fchmod(fd, info.mode & 0o7777)  # must come after changing the owner, which clears setuid and setgid
            time = mtime_ns(info)
            os.utime(fd, ns=(time, time))
        finally:
            os.close(fd)


def parts(name: str) -> Names:
    """Return the components of a name in an archive. Raises `invalid_params` if the name leads out of the directory."""
    found = tuple(part for part in name.split("/") if part not in ("", "."))
    if name.startswith("/") or ".." in found or "\0" in name or len(found) > DEPTH_MAX:
        raise _wrong(name)
    return found


def _extents(info: tarfile.TarInfo) -> list[Extent]:
    """Return a sparse file's data ranges. Raises `invalid_params` for a map that `pack` would not write."""
    if not info.issparse():
        return [(0, info.size)]
    found = cast("list[Extent]", info.sparse)
    end = 0
    for offset, length in found:
        if offset < end or length < 0:
            raise _wrong(info.name)
        end = offset + length
    if end > info.size or len(found) > EXTENTS_MAX + 1:  # `pack` adds one entry that marks the end
        raise _wrong(info.name)
    return found


def _write(fd: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest) :]


def _wrong(name: str) -> HawseError:
    text = to_text(name[:1000])
    return HawseError("invalid_params", f"not a backup archive: {text}", details={"entry": text})
