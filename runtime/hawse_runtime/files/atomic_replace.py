"""Replaces files atomically: the new file is written next to the target and then renamed."""

import ctypes
import errno
import os
import secrets
import stat
import threading
from collections.abc import Callable
from contextlib import suppress

from hawse.wire import HawseError
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.files.stat import set_mtime, version_of

MARK = ".hawse-"  # prefix for temporary names
_LINKS_LIMIT = 40  # maximum number of consecutive symlinks; the same as in Linux
_RENAME_NOREPLACE = 1
_NOT_THERE = (errno.EINVAL, errno.ENOSYS)  # errors if the file system or the kernel doesn't support renameat2
_replacing = threading.Lock()  # held from the version check until after the rename
_libc = ctypes.CDLL(None, use_errno=True)

Place = tuple[int, str]  # a directory's descriptor, and a name in that directory


class AtomicReplacement:
    """A temporary file opened for writing. Finish with `commit` or `discard`. All methods block, so call them in a
    thread.
    """

    def __init__(self, place: RootedPath, *, parents: bool = False) -> None:
        """Create the temporary file. `place` must be a regular file, a symlink to one (which is kept), or missing."""
        self._folder, self._name, self._old = _target(place, parents)
        self._temporary = temporary_name()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            self.fd = os.open(self._temporary, flags, 0o666, dir_fd=self._folder)
        except BaseException:
            os.close(self._folder)
            raise

    def commit(
        self, mode: int | None = None, version: str | None = None, mtime_ns: int | None = None
    ) -> os.stat_result:
        """Replace the target. The new file gets the old one's owner if that is permitted.

        Args:
            mode: The new file's permission bits; None keeps the old file's.
            version: The required version of the old file; "" means that the file must not exist; None allows any
                version.
            mtime_ns: The modification time in nanoseconds since 1970; None means the current time.

        Raises:
            HawseError: `conflict` if the old file has a different version. In that case, the caller must call
                `discard`.
        """
        if self._old is not None:
            with suppress(PermissionError):
                os.fchown(self.fd, self._old.st_uid, self._old.st_gid)
            mode = stat.S_IMODE(self._old.st_mode) if mode is None else mode
        if mode is not None:
            os.fchmod(self.fd, mode)  # must come after changing the owner, which clears setuid and setgid
        if mtime_ns is not None:
            set_mtime(self.fd, mtime_ns)
        with _replacing:
            if version is not None and (now := self._version()) != version:
                raise HawseError("conflict", _difference(version, now), details={"version": now})
            os.rename(self._temporary, self._name, src_dir_fd=self._folder, dst_dir_fd=self._folder)
        status = os.fstat(self.fd)
        self._close()
        return status

    def discard(self) -> None:
        """Remove the temporary file and keep the old file. Raises `OSError` if the temporary file can't be removed."""
        try:
            os.unlink(self._temporary, dir_fd=self._folder)
        finally:
            self._close()

    def _version(self) -> str:
        """The version of the file currently at the target, or "" if there is none."""
        try:
            return version_of(os.stat(self._name, dir_fd=self._folder, follow_symlinks=False))
        except FileNotFoundError:
            return ""

    def _close(self) -> None:
        os.close(self.fd)
        os.close(self._folder)


def _difference(expected: str, found: str) -> str:
    """Describe how a file's version differs from the expected version. The version "" stands for a missing file."""
    if not expected:
        return "the file exists"
    return "the file has changed" if found else "the file does not exist"


def temporary_name() -> str:
    return MARK + secrets.token_hex(8)


def make_parents(place: RootedPath) -> None:
    """Create any missing parent directories of `place`, but never a root or a directory above it."""
    if place.path in place.roots:
        return
    missing = []
    head = os.path.dirname(place.path)
    while head not in ("/", *place.roots):
        try:
            os.close(place.at(head).open(os.O_PATH | os.O_DIRECTORY))
            break
        except FileNotFoundError:
            missing.append(head)
            head = os.path.dirname(head)
    for head in reversed(missing):
        with place.at(head).parent() as (fd, name), suppress(FileExistsError):
            os.mkdir(name, dir_fd=fd)


def rename_by_kernel(source: Place, target: Place) -> bool:
    """Rename atomically unless the target exists. Return False if the file system or kernel doesn't support this."""
    (from_fd, name), (to_fd, to) = source, target
    if _libc.renameat2(from_fd, os.fsencode(name), to_fd, os.fsencode(to), _RENAME_NOREPLACE) < 0:
        number = ctypes.get_errno()
        if number not in _NOT_THERE:
            raise OSError(number, os.strerror(number))
        return False
    return True


def rename(
    source: Place, target: Place, *, overwrite: bool, by_kernel: Callable[[Place, Place], bool] = rename_by_kernel
) -> None:
    """Rename an entry. Both source and target are given as a directory and a name.

    Args:
        source: The directory's descriptor and the current name.
        target: The directory's descriptor and the new name.
        overwrite: Whether to replace an existing entry at `target`.
        by_kernel: Renames atomically unless the target exists. Returns False if this is not supported.

    Raises:
        FileExistsError: `target` exists and `overwrite` is false.
    """
    (from_fd, name), (to_fd, to) = source, target
    if overwrite:
        os.rename(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd)
    elif not by_kernel(source, target):
        rename_by_steps(source, target)


def rename_by_steps(source: Place, target: Place) -> None:
    """Rename without renameat2 by creating the target, which fails if the target exists, and then replacing it."""
    (from_fd, name), (to_fd, to) = source, target
    if stat.S_ISDIR(os.stat(name, dir_fd=from_fd, follow_symlinks=False).st_mode):
        os.mkdir(to, dir_fd=to_fd)
        try:
            os.rename(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd)
        except OSError:
            os.rmdir(to, dir_fd=to_fd)
            raise
    else:
        os.link(name, to, src_dir_fd=from_fd, dst_dir_fd=to_fd, follow_symlinks=False)
        os.unlink(name, dir_fd=from_fd)


def _target(place: RootedPath, parents: bool) -> tuple[int, str, os.stat_result | None]:
    """Return the parent descriptor, name and state of the regular file to replace. Symlinks are resolved."""
    for _ in range(_LINKS_LIMIT):
        if parents:
            make_parents(place)
        with place.parent() as (fd, name):
            try:
                status = os.stat(name, dir_fd=fd, follow_symlinks=False)
            except FileNotFoundError:
                return os.dup(fd), name, None
            if stat.S_ISREG(status.st_mode):
                return os.dup(fd), name, status
            if stat.S_ISDIR(status.st_mode):
                raise HawseError("is_directory", "the path is a directory")
            if not stat.S_ISLNK(status.st_mode):
                raise HawseError("invalid_params", "the path is not a regular file", details={"path": "$.path"})
            link = os.readlink(name, dir_fd=fd)
        place = place.at(os.path.join(os.path.dirname(place.path), link))
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
