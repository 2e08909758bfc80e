"""Replaces a directory with a new one created next to it. The replacement is atomic, even if the runtime is killed.

If possible, the kernel exchanges both directories in one step. A directory that can't be renamed, such as the mounted
workspace, stays in place: its entries are renamed one by one, and renamed back if that fails. If the runtime was
killed, `swap_recovery` renames them back.
"""

import ctypes
import fcntl
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from hawse.wire import HawseError
from hawse_runtime.backup.swap_recovery import DIRECTORY, GONE, LEFTOVER, NEW, OLD, making, sweep
from hawse_runtime.backup.tree_moves import move_entry, remove_leftover, set_attributes, writable
from hawse_runtime.files.atomic_replace import MARK, make_parents
from hawse_runtime.files.rooted_path import RootedPath
from hawse_runtime.posix.proc import read_proc

_RENAME_EXCHANGE: Final = 2
_libc = ctypes.CDLL(None, use_errno=True)

Place = tuple[int, str]  # a directory's descriptor, and a name in that directory
Move = Callable[[str, int, int], None]  # moves a name from one directory to another


def exchange_by_kernel(one: Place, other: Place) -> bool:
    """Exchange two names atomically (renameat2(2)). Return False if that fails for any reason."""
    (one_fd, name), (other_fd, to) = one, other
    return bool(_libc.renameat2(one_fd, os.fsencode(name), other_fd, os.fsencode(to), _RENAME_EXCHANGE) == 0)


class _Holder:
    """A directory `.hawse-restore-X` with an empty directory `new` in it. The outer directory is locked until `close`.

    Attributes:
        name: The directory's name.
        fd: Its descriptor.
        new: The descriptor of `new`.
    """

    def __init__(self, folder: int) -> None:
        """Create the directory in the directory with the descriptor `folder`."""
        self.name = f"{MARK}restore-{secrets.token_hex(8)}"
        opened: list[int] = []
        try:
            opened.append(os.open(".", DIRECTORY, dir_fd=folder))
            with making:
                os.mkdir(self.name, 0o700, dir_fd=opened[0])
                opened.append(os.open(self.name, DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[0]))
                with suppress(OSError):  # the file system may not support locking
                    fcntl.flock(opened[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.mkdir(NEW, 0o700, dir_fd=opened[1])
            opened.append(os.open(NEW, DIRECTORY | os.O_NOFOLLOW, dir_fd=opened[1]))
        except BaseException:
            for fd in opened:
                os.close(fd)
            raise
        self._top, self.fd, self.new = opened

    def move_into(self, folder: int) -> None:
        """Move the directory into `folder`, which must be on the same mount."""
        if not os.path.samestat(os.fstat(self._top), os.fstat(folder)):
            top = os.dup(folder)
            try:
                os.rename(self.name, self.name, src_dir_fd=self._top, dst_dir_fd=top)
            except BaseException:
                os.close(top)
                raise
            os.close(self._top)
            self._top = top

    def remove(self) -> None:
        """Remove the directory and its contents."""
        remove_leftover(self._top, self.name)

    def close(self) -> None:
        for fd in (self.new, self.fd, self._top):
            os.close(fd)


class DirectorySwap:
    """A new directory and the one that it replaces. `commit` performs the replacement.

    Attributes:
        new: The descriptor of the new, empty directory.
    """

    def __init__(self, target: RootedPath, holder: _Holder, old: int | None, kept: frozenset[str]) -> None:
        self._target = target
        self._holder = holder
        self._old = old  # the directory to replace; None if it doesn't exist
        self._kept = kept
        self._stays = False  # whether any old entries could not be restored
        self._attributes: os.stat_result | None = None  # new attributes for a directory whose entries were replaced
        self.new = holder.new

    def commit(self, exchange: Callable[[Place, Place], bool] = exchange_by_kernel, move: Move | None = None) -> None:
        """Replace the old directory with the new one.

        Raises:
            HawseError: `conflict` if an entry was created at the path or in the directory in the meantime. Entries that
                can't be restored are left in a directory next to the old one, which is named in the message.
            OSError: The replacement failed. Nothing has changed.
        """
        if self._old is None:
            try:
                with self._target.parent() as (fd, name):
                    move_entry(NEW, self._holder.fd, fd, name)
            except FileExistsError:
                raise HawseError(
                    "conflict", f"{self._target.path} was created in the meantime", admitted="yes"
                ) from None
        elif not self._exchanged(self._old, exchange):
            self._holder.move_into(self._old)
            self._rename_entries(self._old, move or move_entry)

    def close(self) -> None:
        """Remove the directory that is no longer needed: the old one after `commit`, otherwise the new one."""
        if not self._stays:
            self._holder.remove()
        if self._old is not None:
            if self._attributes is not None:  # restore the directory's times, which removing entries has changed
                with suppress(OSError):
                    set_attributes(self._old, self._attributes)
            os.close(self._old)
        self._holder.close()

    def _exchanged(self, old: int, exchange: Callable[[Place, Place], bool]) -> bool:
        if os.path.samestat(os.stat("..", dir_fd=self._holder.fd), os.fstat(old)):
            return False  # not possible, because the new directory is inside the old one
        with self._target.parent() as (fd, name):
            one, other = (self._holder.fd, NEW), (fd, name)
            if exchange(one, other):
                return True
            with suppress(OSError), writable(*one), writable(*other):  # a rename requires write permission
                return os.geteuid() != 0 and exchange(one, other)
            return False

    def _rename_entries(self, old: int, move: Move) -> None:
        holder = self._holder
        before = [name for name in os.listdir(old) if name not in self._kept and not LEFTOVER.fullmatch(name)]
        after, attributes = os.listdir(self.new), os.fstat(self.new)
        # Moving entries out requires write permission.
        os.chmod(self.new, stat.S_IMODE(attributes.st_mode) | stat.S_IRWXU)
        os.mkdir(OLD, 0o700, dir_fd=holder.fd)
        aside = os.open(OLD, DIRECTORY | os.O_NOFOLLOW, dir_fd=holder.fd)
        moved: list[str] = []
        placed: list[str] = []
        try:
            for name in before:
                move(name, old, aside)
                moved.append(name)
            os.utime(
                aside, ns=(attributes.st_atime_ns, attributes.st_mtime_ns)
            )  # moving entries into `new` changes its times, so they are stored here for recovery
            os.rename(OLD, GONE, src_dir_fd=holder.fd, dst_dir_fd=holder.fd)
            for name in after:
                move(name, self.new, old)
                placed.append(name)
            set_attributes(old, attributes)
            self._attributes = attributes
        except BaseException as error:
            _move_back(placed, old, self.new, move)
            with suppress(FileNotFoundError):
                os.rename(GONE, OLD, src_dir_fd=holder.fd, dst_dir_fd=holder.fd)
            self._stays = not _move_back(moved, aside, old, move)
            if self._stays:
                text = (
                    f"files were created in the meantime; entries that could not be restored are in {holder.name}/{OLD}"
                )
                raise HawseError("conflict", text, admitted="yes") from error
            if isinstance(error, FileExistsError):
                raise HawseError("conflict", "a file was created in the meantime", admitted="yes") from None
            raise
        finally:
            os.close(aside)


def _move_back(names: list[str], source: int, target: int, move: Move) -> bool:
    """Move names back in reverse order. Return False if a move failed, for example because a name is taken."""
    whole = True
    for name in reversed(names):
        try:
            move(name, source, target)
        except OSError:  # try to move the other entries anyway
            whole = False
    return whole


@contextmanager
def replacing(
    target: RootedPath, kept: frozenset[str] = frozenset(), *, in_place: bool = False
) -> Iterator[DirectorySwap]:
    """Yield a replacement for `target`. On exit, remove the directory that is no longer needed.

    Args:
        target: The directory to replace, which may not exist.
        kept: Names in the directory that are kept if its entries are replaced one by one.
        in_place: Whether the directory itself must stay in place, because programs are running in it or it is being
            watched.

    Raises:
        HawseError: `not_directory` if `target` exists and is not a directory.
    """
    make_parents(target)
    try:
        old: int | None = target.open(DIRECTORY)
    except FileNotFoundError:
        old = None
    except NotADirectoryError:
        raise HawseError("not_directory", f"{target.path} is not a directory", admitted="yes") from None
    try:
        if old is not None:
            sweep(old)
        holder = _beside(target, old, in_place)
    except BaseException:
        if old is not None:
            os.close(old)
        raise
    swap = DirectorySwap(target, holder, old, kept)
    try:
        yield swap
    finally:
        swap.close()


def _beside(target: RootedPath, old: int | None, in_place: bool) -> _Holder:
    """Create the new directory on the same mount as the old one."""
    if old is None:
        with target.parent() as (fd, _):
            return _Holder(fd)
    if not in_place:
        with suppress(OSError, HawseError), target.parent() as (fd, base):
            itself = os.path.samestat(os.stat(base, dir_fd=fd, follow_symlinks=False), os.fstat(old))  # not a symlink
            if itself and _mount(fd) == _mount(old):
                _sweep_beside(fd)
                return _Holder(fd)
    return _Holder(old)


def _sweep_beside(parent: int) -> None:
    """Remove the leftovers of killed restores from a directory (O_PATH) if that directory is readable."""
    with suppress(OSError):
        fd = os.open(".", DIRECTORY, dir_fd=parent)
        try:
            sweep(fd)
        finally:
            os.close(fd)


def _mount(fd: int) -> bytes:
    """Return a descriptor's mount id (proc(5), /proc/PID/fdinfo)."""
    return next(line for line in read_proc(f"self/fdinfo/{fd}").splitlines() if line.startswith(b"mnt_id:"))
