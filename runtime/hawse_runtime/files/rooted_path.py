"""Opens paths, optionally confined to a root that can't be escaped with `..`, symlinks or races.

All file methods open their paths here, and use only descriptors afterwards. The kernel confines resolution to the
root (openat2(2), RESOLVE_BENEATH). Without openat2, symlinks are not followed at all (docs/decisions/0034).
"""

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import msgspec

from hawse.wire import HawseError
from hawse_runtime.posix.environment import Environment

_OPENAT2 = 437  # the system call number, which is the same on all architectures
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_TRIES = 100  # maximum number of attempts; the kernel returns EAGAIN if a directory is renamed during resolution
_UNSUPPORTED = (errno.ENOSYS, errno.EPERM, errno.E2BIG)  # errors without openat2; old seccomp profiles cause EPERM
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class RootedPath(msgspec.Struct, frozen=True):
    """A path that hasn't been opened, along with the roots it is confined to, outermost first."""

    path: str  # an absolute path
    roots: tuple[str, ...] = ()

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open the path. Raises `OSError`, or `permission_denied` if the path leads out of a root."""
        flags |= os.O_CLOEXEC | (0 if flags & os.O_PATH else os.O_NOCTTY)  # openat2 rejects flags that have no effect
        if not self.roots:
            return os.open(self.path, flags, mode)
        with _opened(self.roots) as root:
            return open_beneath(root, _within(self.roots[-1], self.path), flags, mode)

    @contextmanager
    def parent(self) -> Iterator[tuple[int, str]]:
        """Yield a descriptor (O_PATH) for the parent directory, and the entry's name. The entry may not exist."""
        head, name = os.path.split(self.path)
        if name in ("", ".", "..") or self.path in self.roots:
            raise HawseError("permission_denied", f"{self.path} cannot be replaced")
        fd = self.at(head).open(_DIRECTORY)
        try:
            yield fd, name
        finally:
            os.close(fd)

    def at(self, path: str) -> "RootedPath":
        """Return another path confined to the same roots."""
        return RootedPath(path, self.roots)


class PathResolver:
    """Resolves paths in calls. `root` is the directory that all calls are confined to; None means no confinement."""

    def __init__(self, environment: Environment, root: str | None = None) -> None:
        self._environment = environment
        self._roots = () if root is None else (os.path.abspath(root),)

    def place(self, path: str, root: str | None = None, base: str | None = None) -> RootedPath:
        """Return a call's path, without accessing the disk.

        Args:
            path: The path. If relative, it is resolved against `root` or, without a root, against `base`.
            root: The directory that the call is confined to. It can be relative to `base`.
            base: A directory; None means the workspace.

        Raises:
            HawseError: `invalid_params`, or `permission_denied` if the path leads out of a root.
        """
        roots = self._roots
        if root is not None:
            base = self._environment.path(root, base)
            roots = (*roots, base)
        path = self._environment.path(path, base)
        for outer, inner in pairwise((*roots, path)):
            _within(outer, inner)
        return RootedPath(path, roots)


def open_beneath(root: int, path: str, flags: int, mode: int = 0o666) -> int:
    """Open the relative `path` below `root`. Raises `OSError`, or `permission_denied` if `path` leads out."""
    try:
        return _openat2(root, path, flags, mode)
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise HawseError("permission_denied", "the path leaves its root") from None
        if error.errno not in _UNSUPPORTED:
            raise
    return open_plain(root, path, flags, mode)


def open_plain(root: int, path: str, flags: int, mode: int = 0o666) -> int:
    """Open a path without openat2, one component at a time. Any symlink raises `permission_denied`."""
    *above, name = path.split("/")
    if ".." in (*above, name):
        raise HawseError("permission_denied", "the path leaves its root")
    fd = os.dup(root)
    try:
        for step in above:
            _no_symlink(fd, step)
            fd, before = os.open(step, _DIRECTORY | os.O_NOFOLLOW, dir_fd=fd), fd
            os.close(before)
        if not flags & os.O_NOFOLLOW:
            _no_symlink(fd, name)
        return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=fd)
    finally:
        os.close(fd)


def _no_symlink(fd: int, name: str) -> None:
    """Raise a clear error for a symlink. O_NOFOLLOW prevents it from being followed, but with a misleading error."""
    try:
        os.readlink(name, dir_fd=fd)
    except OSError:
        return
    raise HawseError("permission_denied", "symlinks below a root are not supported on this kernel")


def _openat2(root: int, path: str, flags: int, mode: int) -> int:
    creates = flags & (os.O_CREAT | os.O_TMPFILE) & ~os.O_DIRECTORY
    how = _How(flags, mode if creates else 0, _RESOLVE_BENEATH | _RESOLVE_NO_MAGICLINKS)
    for _ in range(_TRIES):
        fd: int = _libc.syscall(_OPENAT2, root, os.fsencode(path), ctypes.byref(how), ctypes.sizeof(how))
        if fd >= 0:
            return fd
        if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
            break
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


@contextmanager
def _opened(roots: tuple[str, ...]) -> Iterator[int]:
    """Open the innermost root. Each root is resolved within the one before it."""
    fd = os.open(roots[0], _DIRECTORY)
    try:
        for outer, inner in pairwise(roots):
            fd, before = open_beneath(fd, _within(outer, inner), _DIRECTORY), fd
            os.close(before)
        yield fd
    finally:
        os.close(fd)


def _within(root: str, path: str) -> str:
    """Return `path` relative to `root`. Raises `permission_denied` if `path` is not lexically within `root`."""
    if path == root:
        return "."
    prefix = root.rstrip("/") + "/"
    if not path.startswith(prefix):
        raise HawseError("permission_denied", "the path leaves its root")
    return path[len(prefix) :]
