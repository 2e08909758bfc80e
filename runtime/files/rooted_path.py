"""Opens what a path names: anywhere, or beneath a root that nothing leaves: no `..`, no symlink, no race.

All file methods open here, and go on with descriptors. The kernel keeps them beneath the root (openat2(2),
RESOLVE_BENEATH); where it cannot, no symlink is followed at all (docs/decisions/0034).
"""

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise

from hawse.wire import HawseError
from runtime.posix.environment import Environment

_OPENAT2 = 437  # on every architecture
_RESOLVE_NO_MAGICLINKS = 0x02
_RESOLVE_BENEATH = 0x08
_TRIES = 100  # the kernel says EAGAIN if something is renamed while it looks
_UNSUPPORTED = (errno.ENOSYS, errno.EPERM, errno.E2BIG)  # EPERM: an old seccomp profile
_DIRECTORY = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


@dataclass(frozen=True)
class RootedPath:
    """A path that is yet to be opened, and the roots it has to stay beneath, the outermost first."""

    path: str  # absolute
    roots: tuple[str, ...] = ()

    def open(self, flags: int, mode: int = 0o666) -> int:
        """Open it. Raises `OSError`, and `permission_denied` if that leaves a root."""
        flags |= os.O_CLOEXEC | (0 if flags & os.O_PATH else os.O_NOCTTY)  # openat2 is strict
        if not self.roots:
            return os.open(self.path, flags, mode)
        with _opened(self.roots) as root:
            return open_beneath(root, _within(self.roots[-1], self.path), flags, mode)

    @contextmanager
    def parent(self) -> Iterator[tuple[int, str]]:
        """The directory it is in, open (O_PATH), and its name there, which may be that of a symlink or of nothing."""
        head, name = os.path.split(self.path)
        if name in ("", ".", "..") or self.path in self.roots:
            raise HawseError("permission_denied", f"{self.path} cannot be replaced")
        fd = self.at(head).open(_DIRECTORY)
        try:
            yield fd, name
        finally:
            os.close(fd)

    def at(self, path: str) -> "RootedPath":
        """Another path within the same roots."""
        return RootedPath(path, self.roots)


class PathResolver:
    """Where the file methods of a runtime may work. `root`: the directory none of them leaves."""

    def __init__(self, environment: Environment, root: str | None = None) -> None:
        self._environment = environment
        self._roots = () if root is None else (os.path.abspath(root),)

    def place(self, path: str, root: str | None = None) -> RootedPath:
        """The place that a call's `path` and `root` name. Does not touch the disk. Raises `invalid_params`."""
        path, roots = self._environment.path(path, root), self._roots
        if root is not None:
            roots = (*roots, self._environment.path(root))
        for outer, inner in pairwise((*roots, path)):
            _within(outer, inner)
        return RootedPath(path, roots)


def open_beneath(root: int, path: str, flags: int, mode: int = 0o666) -> int:
    """Open the relative `path` beneath the directory `root`. Raises `OSError`, `permission_denied` if it leaves it."""
    try:
        return _openat2(root, path, flags, mode)
    except OSError as error:
        if error.errno == errno.EXDEV:
            raise HawseError("permission_denied", "the path leaves its root") from None
        if error.errno not in _UNSUPPORTED:
            raise
    return open_plain(root, path, flags, mode)


def open_plain(root: int, path: str, flags: int, mode: int = 0o666) -> int:
    """The same without the kernel's help: step by step, and a symlink on the way is `permission_denied`."""
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
    """Say well what O_NOFOLLOW would say badly; it is what counts."""
    try:
        os.readlink(name, dir_fd=fd)
    except OSError:
        return
    raise HawseError("permission_denied", "a symlink below a root is not followed on this kernel")


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
    """The innermost root, each opened beneath the one around it."""
    fd = os.open(roots[0], _DIRECTORY)
    try:
        for outer, inner in pairwise(roots):
            fd, before = open_beneath(fd, _within(outer, inner), _DIRECTORY), fd
            os.close(before)
        yield fd
    finally:
        os.close(fd)


def _within(root: str, path: str) -> str:
    """`path` as seen from `root`. What is elsewhere by its name already is not opened at all."""
    if path == root:
        return "."
    prefix = root.rstrip("/") + "/"
    if not path.startswith(prefix):
        raise HawseError("permission_denied", "the path leaves its root")
    return path[len(prefix) :]
