"""What `hawse cp` copies, and where to: the files, directories and symlinks of one side, and how the other gets them.

Symlinks below a directory stay symlinks. Nothing is written through a symlink that was copied: a sandbox could name a
file below one that leads out of the destination.
"""

import asyncio
import os
import stat
from collections.abc import Awaitable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import click

from hawse.cli.output import printable
from hawse.client import Files, Sandbox
from hawse.wire import HawseError

AT_ONCE: Final = 8  # files: enough to hide the round trips of small ones
SANDBOX_MAX: Final = 64  # characters of a sandbox's id
LINKS_AT_ONCE: Final = 256  # symlinks that one command makes: a path has up to 4096 bytes, its arguments up to 2 MiB
LINK: Final = 'while [ $# -gt 0 ]; do ln -sfT -- "$1" "$2" || exit; shift 2; done'


class Entry(NamedTuple):
    """One file to copy: its path below the source ("" is the source itself), its size in bytes and its mode."""

    path: str
    size: int
    mode: int


@dataclass
class Tree:
    """A file or directory that is copied.

    Attributes:
        name: The name that it gets in a destination that is a directory.
        files: The files.
        directories: The paths of the directories below it; the directory itself is "".
        links: The symlinks: their paths and what they lead to.
        special: The paths of FIFOs, sockets and devices, which are not copied.
    """

    name: str
    files: list[Entry] = field(default_factory=list)
    directories: list[str] = field(default_factory=list)
    links: list[tuple[str, str]] = field(default_factory=list)
    special: list[str] = field(default_factory=list)


def remote_path(text: str) -> tuple[str, str] | None:
    """Return the sandbox and the path of `SANDBOX:PATH`; None for a local path, such as `./a:b` or `C/a:b`."""
    sandbox, colon, path = text.partition(":")
    if not colon or "/" in sandbox or len(sandbox) > SANDBOX_MAX:
        return None
    return sandbox, path or "."


def local_tree(source: Path) -> Tree:
    """Return what is at a local path. Special files, such as FIFOs, are not copied: `special` has their paths.

    Args:
        source: A file or a directory, or a symlink to one.

    Raises:
        OSError: It cannot be read.
    """
    info = source.stat()
    tree = Tree(source.resolve().name)
    if not stat.S_ISDIR(info.st_mode):
        tree.files.append(Entry("", info.st_size, info.st_mode & 0o777))
        return tree
    tree.directories.append("")
    for parent, directories, names in os.walk(source, onerror=_raise):
        for name in [*directories, *names]:
            path = os.path.join(parent, name)
            below = os.path.relpath(path, source)
            info = os.lstat(path)
            if stat.S_ISLNK(info.st_mode):
                tree.links.append((below, os.readlink(path)))
            elif stat.S_ISDIR(info.st_mode):
                tree.directories.append(below)
            elif stat.S_ISREG(info.st_mode):
                tree.files.append(Entry(below, info.st_size, info.st_mode & 0o777))
            else:
                tree.special.append(below)
    return tree


async def remote_tree(files: Files, source: str) -> Tree:
    """Return what is at a path of a sandbox. Special files, such as FIFOs, are not copied: `special` has their paths.

    Args:
        files: The files of the sandbox.
        source: A file or a directory, or a symlink to one.

    Raises:
        click.ClickException: The sandbox names a file outside of `source`.
    """
    info = await files.stat(source)
    tree = Tree(PurePosixPath(source).name or "workspace")
    if info.type != "directory":
        tree.files.append(Entry("", info.size, info.mode & 0o777))
        return tree
    tree.directories.append("")
    async for entry in files.list(source, recursive=True):
        path = PurePosixPath(entry.path)
        if path.is_absolute() or ".." in path.parts:
            raise click.ClickException(f"the sandbox names a file outside of the directory: {printable(entry.path)}")
        if entry.type == "directory":
            tree.directories.append(str(path))
        elif entry.type == "file":
            tree.files.append(Entry(str(path), entry.size, entry.mode & 0o777))
        elif entry.type == "symlink" and entry.target:
            tree.links.append((str(path), entry.target))
        elif entry.type != "symlink":
            tree.special.append(str(path))
    return tree


async def remote_destination(files: Files, destination: str, name: str) -> str:
    """Return the path that gets the source: below a directory, or a path with a final slash, its `name` is added."""
    if destination.endswith("/") or await _is_directory(files, destination):
        return str(PurePosixPath(destination) / name)
    return destination


def local_destination(destination: str, name: str) -> Path:
    """Return the path that gets the source: below a directory, or a path with a final slash, its `name` is added."""
    target = Path(destination)
    return target / name if destination.endswith("/") or target.is_dir() else target


async def make_remote_directories(files: Files, target: str, tree: Tree) -> None:
    """Create the directories of a tree in a sandbox: the innermost ones, with those above them."""
    above = {str(PurePosixPath(path).parent) for path in tree.directories if path}
    await gather(
        files.mkdir(str(PurePosixPath(target) / path), parents=True)
        for path in tree.directories
        if (path or ".") not in above
    )


def make_local_directories(target: Path, tree: Tree) -> None:
    """Create the directories of a tree here.

    Raises:
        OSError: One cannot be created.
        click.ClickException: See `below`.
    """
    for path in tree.directories:
        (below(target, path) if path else target).mkdir(parents=True, exist_ok=True)


async def make_remote_links(box: Sandbox, target: str, tree: Tree) -> None:
    """Make the symlinks of a tree in a sandbox; existing files of their names are replaced."""
    for first in range(0, len(tree.links), LINKS_AT_ONCE):
        argv = ["sh", "-c", LINK, "sh"]
        for path, to in tree.links[first : first + LINKS_AT_ONCE]:
            argv += [to, str(PurePosixPath(target) / path)]
        done = await box.exec(argv)
        if not done.ok:
            raise click.ClickException(f"symlinks cannot be made in the sandbox: {printable(done.stderr_text.strip())}")


def make_local_links(target: Path, tree: Tree) -> None:
    """Make the symlinks of a tree here; existing files of their names are replaced.

    Raises:
        OSError: One cannot be made.
        click.ClickException: See `below`.
    """
    for path, to in tree.links:
        place = below(target, path)
        place.parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            place.unlink()
        place.symlink_to(to)


def below(target: Path, path: str) -> Path:
    """Return the place of a path below a directory.

    Raises:
        click.ClickException: A directory on the way is a symlink: what is copied could get anywhere.
    """
    place = target / path
    for parent in place.parents:
        if parent == target:
            break
        if parent.is_symlink():
            raise click.ClickException(f"{printable(str(parent))} is a symlink: nothing is copied through it")
    return place


async def gather(works: Iterable[Awaitable[object]]) -> None:
    """Await all, a few at once. Raises an exception group."""
    limit = asyncio.Semaphore(AT_ONCE)

    async def one(work: Awaitable[object]) -> None:
        async with limit:
            await work

    async with asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(one(work))


async def _is_directory(files: Files, path: str) -> bool:
    try:
        return (await files.stat(path)).type == "directory"
    except HawseError as error:
        if error.code not in ("not_found", "not_directory"):
            raise
        return False


def _raise(error: OSError) -> None:
    raise error
