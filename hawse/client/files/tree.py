"""The directory tree to transfer: files, directories and symlinks, without file content."""

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from hawse.api.files import FileEntry, FileFailure
from hawse.client.base.call_errors import CALL_ERRORS, PermissionDeniedError
from hawse.client.base.errors import fresh
from hawse.sparse_files import has_holes
from hawse.wire import HawseError

if TYPE_CHECKING:
    from hawse.client.files.files import Files

MODE: Final = 0o7777  # permission bits of a file or directory

OnFailure = Callable[[str, Exception], object]  # called with a path below the source, and the error


class TreeEntry(NamedTuple):
    """A file or a directory.

    Attributes:
        path: Its path below the source; "" is the source itself.
        size: Size of the file, in bytes.
        mode: Permission bits.
        mtime_ns: Modification time, in nanoseconds since 1970; None if unknown.
        sparse: Whether the file has holes.
    """

    path: str
    size: int
    mode: int
    mtime_ns: int | None
    sparse: bool = False


class Link(NamedTuple):
    """A symlink: its path below the source, its target, and its modification time."""

    path: str
    target: str
    mtime_ns: int | None


@dataclass
class Tree:
    """A file, or a directory and everything in it.

    Attributes:
        files: The files.
        directories: The directories, including `source`.
        links: The symlinks.
        special: The paths of FIFOs, sockets and devices, which are skipped.
    """

    files: list[TreeEntry] = field(default_factory=list)
    directories: list[TreeEntry] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    special: list[str] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The total size of the files, in bytes."""
        return sum(each.size for each in self.files)


def local_tree(source: Path, on_failure: OnFailure) -> Tree:
    """Return the tree at a local path.

    Args:
        source: A file, a directory, or a symlink to either.
        on_failure: Called for entries below `source` that cannot be read.

    Raises:
        OSError: `source` cannot be read.
    """
    tree = Tree()
    info = source.stat()
    if not stat.S_ISDIR(info.st_mode):
        tree.files.append(_local_entry("", info))
        return tree
    tree.directories.append(_local_entry("", info))
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            names = sorted(os.listdir(os.path.join(source, folder)))
        except OSError as error:
            if not folder:
                raise
            on_failure(folder, error)
            continue
        for name in names:
            below = os.path.join(folder, name)
            try:
                if _add_local(tree, os.path.join(source, below), below):
                    waiting.append(below)
            except OSError as error:
                on_failure(below, error)
    return tree


def _add_local(tree: Tree, path: str, below: str) -> bool:
    """Add a file, a symlink or a directory to a tree; return whether it is a directory."""
    info = os.lstat(path)
    if stat.S_ISDIR(info.st_mode):
        tree.directories.append(_local_entry(below, info))
        return True
    if stat.S_ISLNK(info.st_mode):
        tree.links.append(Link(below, os.readlink(path), info.st_mtime_ns))
    elif stat.S_ISREG(info.st_mode):
        tree.files.append(_local_entry(below, info))
    else:
        tree.special.append(below)
    return False


def _local_entry(path: str, info: os.stat_result) -> TreeEntry:
    sparse = stat.S_ISREG(info.st_mode) and has_holes(info.st_size, info.st_blocks * 512)
    return TreeEntry(path, info.st_size, info.st_mode & MODE, info.st_mtime_ns, sparse)


async def remote_tree(files: "Files", source: str, on_failure: OnFailure) -> Tree:
    """Return the tree at a path in a sandbox.

    Args:
        files: The sandbox's files.
        source: A file, a directory, or a symlink to either.
        on_failure: Called for entries below `source` that cannot be read.

    Raises:
        HawseError: `source` cannot be read; `permission_denied` if the sandbox lists a file outside of it.
    """
    tree = Tree()
    info = await files.stat(source)
    if info.type != "directory":
        tree.files.append(_remote_entry("", info))
        return tree
    tree.directories.append(_remote_entry("", info))

    def failed(failure: FileFailure) -> None:
        code = failure.code if failure.code in CALL_ERRORS else "io_error"
        on_failure(failure.path, fresh(HawseError(code, failure.message, admitted="yes")))

    async for entry in files.list(source, recursive=True, on_error=failed):
        path = PurePosixPath(entry.path)
        if path.is_absolute() or ".." in path.parts:
            raise PermissionDeniedError(f"the sandbox names a file outside of the directory: {entry.path!r}")
        if entry.type == "directory":
            tree.directories.append(_remote_entry(str(path), entry))
        elif entry.type == "file":
            tree.files.append(_remote_entry(str(path), entry))
        elif entry.type == "symlink" and entry.target:
            tree.links.append(Link(str(path), entry.target, entry.mtime_ns))
        elif entry.type != "symlink":
            tree.special.append(str(path))
    return tree


def _remote_entry(path: str, info: FileEntry) -> TreeEntry:
    sparse = info.type == "file" and has_holes(info.size, info.allocated)
    return TreeEntry(path, info.size, info.mode & MODE, info.mtime_ns, sparse)
