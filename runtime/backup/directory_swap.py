"""Replaces a directory by another one that was made beside it: all of it or nothing.

Where the kernel can exchange both in one step, it does. A directory that cannot be renamed, such as the workspace,
which is mounted, keeps itself: its entries are renamed, one after another, and back after a failure.
"""

import ctypes
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from hawse.wire import HawseError
from runtime.files.atomic_replace import MARK, make_parents, rename
from runtime.files.rooted_path import RootedPath
from runtime.posix.proc import PROC, read_proc, reopen

_RENAME_EXCHANGE: Final = 2
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_libc = ctypes.CDLL(None, use_errno=True)

Place = tuple[int, str]  # a directory's descriptor, and a name in it
Move = Callable[[str, int, int], None]  # moves a name from one directory to another


def exchange_by_kernel(one: Place, other: Place) -> bool:
    """Exchange two names in one step (renameat2(2)). Return False if that is not possible for any reason."""
    (one_fd, name), (other_fd, to) = one, other
    return bool(_libc.renameat2(one_fd, os.fsencode(name), other_fd, os.fsencode(to), _RENAME_EXCHANGE) == 0)


class DirectorySwap:
    """A new directory `new` (a descriptor), and what it will replace. `commit` puts it into place.

    Attributes:
        new: Descriptor of the new, empty directory.
    """

    def __init__(self, target: RootedPath, top: int, name: str, old: int | None, kept: frozenset[str]) -> None:
        self._target = target
        self._top = top  # the directory with the new one
        self._name = name  # of the new one in it
        self._old = old  # the directory that is replaced; None: there is none
        self._kept = kept
        self._stays = False  # something of the old directory could not be put back
        self.new = os.open(name, _DIRECTORY | os.O_NOFOLLOW, dir_fd=top)

    def commit(self, exchange: Callable[[Place, Place], bool] = exchange_by_kernel, move: Move | None = None) -> None:
        """Put the new directory into the place of the old one.

        Raises:
            HawseError: `conflict` if something has appeared at the path, or in the directory, meanwhile. Entries that
                could not be put back because of that stay in the new directory; the message names the place.
            OSError: It was not possible. Nothing has changed.
        """
        if self._old is None:
            try:
                with self._target.parent() as (fd, name):
                    rename((self._top, self._name), (fd, name), overwrite=False)
            except FileExistsError:
                raise HawseError("conflict", f"{self._target.path} was created meanwhile", admitted="yes") from None
            return
        if not self._in_place() and self._exchanged(exchange):
            return
        self._rename_entries(self._old, move or move_entry)

    def close(self) -> None:
        """Remove what is not in place: the new directory before `commit`, the old one after it."""
        os.close(self.new)
        if self._old is not None:
            os.close(self._old)
        if not self._stays:
            remove_beneath(self._top, self._name)
        os.close(self._top)

    def _in_place(self) -> bool:
        """Whether the new directory was made inside of the old one."""
        assert self._old is not None
        return os.path.samestat(os.fstat(self._top), os.fstat(self._old))

    def _exchanged(self, exchange: Callable[[Place, Place], bool]) -> bool:
        with self._target.parent() as (fd, name):
            return exchange((self._top, self._name), (fd, name))

    def _rename_entries(self, old: int, move: Move) -> None:
        before = [name for name in os.listdir(old) if name not in self._kept and name != self._name]
        after = os.listdir(self.new)
        aside = f"{MARK}{secrets.token_hex(8)}"
        os.mkdir(aside, 0o700, dir_fd=self.new)
        aside_fd = os.open(aside, _DIRECTORY | os.O_NOFOLLOW, dir_fd=self.new)
        undo: list[tuple[str, int, int]] = []
        try:
            for names, source, target in ((before, old, aside_fd), (after, self.new, old)):
                for name in names:
                    move(name, source, target)
                    undo.append((name, target, source))
            _copy_attributes(self.new, old)
        except BaseException as error:
            for name, source, target in reversed(undo):
                try:
                    move(name, source, target)
                except OSError:  # such as a name that is taken: the others are put back anyway
                    self._stays = self._stays or source == aside_fd
            if self._stays:
                text = f"files were created meanwhile: what could not be put back is in {self._name}/{aside}"
                raise HawseError("conflict", text, admitted="yes") from error
            if isinstance(error, FileExistsError):
                raise HawseError("conflict", "a file was created meanwhile", admitted="yes") from None
            raise
        finally:
            os.close(aside_fd)


@contextmanager
def replacing(
    target: RootedPath, kept: frozenset[str] = frozenset(), *, in_place: bool = False
) -> Iterator[DirectorySwap]:
    """Make a new directory for `target`. On leaving, what is not in place is removed.

    Args:
        target: The directory to replace, which need not exist.
        kept: Names in it that stay, if it is replaced entry by entry.
        in_place: Whether the directory itself has to stay, because programs run in it or it is watched.

    Raises:
        HawseError: `not_directory`.
    """
    make_parents(target)
    name = f"{MARK}restore-{secrets.token_hex(8)}"
    try:
        old: int | None = target.open(_DIRECTORY)
    except FileNotFoundError:
        old = None
    except NotADirectoryError:
        raise HawseError("not_directory", f"{target.path} is not a directory", admitted="yes") from None
    try:
        top = _beside(target, old, name, in_place)
    except BaseException:
        if old is not None:
            os.close(old)
        raise
    swap = DirectorySwap(target, top, name, old, kept)
    try:
        yield swap
    finally:
        swap.close()


def _beside(target: RootedPath, old: int | None, name: str, in_place: bool) -> int:
    """Make the new directory on the same mount as the old one; return a descriptor of what it is in."""
    if old is None:
        with target.parent() as (fd, _):
            return _make(fd, name)
    if not in_place:
        with suppress(OSError, HawseError), target.parent() as (fd, base):
            itself = os.path.samestat(os.stat(base, dir_fd=fd, follow_symlinks=False), os.fstat(old))  # not a symlink
            if itself and _mount(fd) == _mount(old):
                return _make(fd, name)
    return _make(old, name)


def _make(folder: int, name: str) -> int:
    top = os.open(".", _DIRECTORY, dir_fd=folder)
    try:
        os.mkdir(name, 0o700, dir_fd=top)
    except BaseException:
        os.close(top)
        raise
    return top


def _mount(fd: int) -> bytes:
    """Return the id of the mount that a descriptor is on (proc(5), /proc/PID/fdinfo)."""
    return next(line for line in read_proc(f"self/fdinfo/{fd}").splitlines() if line.startswith(b"mnt_id:"))


def move_entry(name: str, source: int, target: int) -> None:
    """Rename into another directory, unless the name is taken. A directory has to be writable for that: rename(2)."""
    try:
        rename((source, name), (target, name), overwrite=False)
    except PermissionError:
        with _writable(source, name):
            rename((source, name), (target, name), overwrite=False)


@contextmanager
def _writable(folder: int, name: str) -> Iterator[None]:
    """Give a directory write permission during the `with` block."""
    fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(fd).st_mode & 0o7777
        os.chmod(f"self/fd/{fd}", mode | 0o700, dir_fd=PROC)
        try:
            yield
        finally:
            os.chmod(f"self/fd/{fd}", mode, dir_fd=PROC)
    finally:
        os.close(fd)


def remove_beneath(folder: int, name: str) -> None:
    """Remove a tree. Nothing is raised: what cannot be removed stays."""
    with suppress(RecursionError):
        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)
    with suppress(OSError, RecursionError):
        _allow_removal(folder, name)
        shutil.rmtree(name, ignore_errors=True, dir_fd=folder)


def _allow_removal(folder: int, name: str) -> None:
    """Make all directories of a tree writable: files in them can be removed then."""
    fd = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"self/fd/{fd}", 0o700, dir_fd=PROC)
        reading = reopen(fd, os.O_RDONLY | os.O_DIRECTORY)
        try:
            with os.scandir(reading) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        _allow_removal(reading, entry.name)
        finally:
            os.close(reading)
    finally:
        os.close(fd)


def _copy_attributes(source: int, target: int) -> None:
    """Give a directory the mode, the owner and the time of another one."""
    status = os.fstat(source)
    with suppress(PermissionError):
        os.fchown(target, status.st_uid, status.st_gid)
    os.fchmod(target, status.st_mode & 0o7777)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns))
