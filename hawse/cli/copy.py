"""`hawse cp`: copy files and directories between this machine and sandboxes.

A path in a sandbox is `SANDBOX:PATH`, or `:PATH` for the sandbox of --sandbox. A copy that was interrupted continues
when it is made again: each large file after the bytes that have arrived.
"""

import asyncio
import sys
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

import click

from hawse.cli import copy_tree as trees
from hawse.cli.copy_tree import Entry, Tree, remote_path
from hawse.cli.exec import standard_input
from hawse.cli.output import examples, is_terminal, listed, print_json, write_bytes
from hawse.cli.target import Target, first, target_options
from hawse.client import Client, Sandbox
from hawse.wire import HawseError

Advance = Callable[[int], object]  # takes the bytes that were copied since the last call
Copy = Callable[[Entry], Awaitable[object]]

RESUMED_FROM: Final = 4 << 20  # bytes: a smaller file is sent again as quickly as its part is examined
NAMED: Final = 10  # special files that are named at most
STREAM: Final = "-"  # stands for standard input or output


@dataclass
class Copied:
    """What was copied so far."""

    files: int = 0
    bytes: int = 0
    links: int = 0
    skipped: list[str] = field(default_factory=list)  # FIFOs, sockets and devices

    def __str__(self) -> str:
        links = f", {self.links} {'symlink' if self.links == 1 else 'symlinks'}" if self.links else ""
        return f"{self.files} {'file' if self.files == 1 else 'files'}{links} copied"


@dataclass(frozen=True)
class Place:
    """One end of a copy: a path here, in a sandbox, or `-`."""

    path: str
    box: Sandbox | None  # None: here

    @property
    def is_stream(self) -> bool:
        return self.box is None and self.path == STREAM


@click.command(
    epilog=examples(
        "hawse cp ./site :site",
        "hawse cp build:dist/app.tar.gz .",
        "tar c src | hawse cp - :src.tar",
    )
)
@click.argument("source")
@click.argument("destination")
@click.option("-q", "--quiet", is_flag=True, help="show no progress")
@target_options
def cp(target: Target, source: str, destination: str, quiet: bool) -> None:
    """Copy the file or directory SOURCE to DESTINATION. One of them, or both, are in a sandbox: SANDBOX:PATH or :PATH.

    A destination that is a directory, or ends with a slash, gets SOURCE below its own name; SOURCE/. is what is in
    SOURCE. Symlinks below a directory stay symlinks; FIFOs, sockets and devices are named and not copied. `-` is
    standard input or output.

    The same command again continues a copy that was interrupted.
    """
    if remote_path(source) is None and remote_path(destination) is None:
        raise click.UsageError("SOURCE or DESTINATION has to be in a sandbox: SANDBOX:PATH or :PATH")

    async def work(client: Client, _: Sandbox) -> Copied:
        begin, end = (_place(client, target, text) for text in (source, destination))
        copied = Copied()
        shown = not (quiet or target.as_json)
        try:
            if begin.is_stream:
                await _from_stream(end, copied, shown)
            elif end.is_stream:
                await _to_stream(begin, copied, shown)
            else:
                await _copy(begin, end, copied, shown)
        except* (HawseError, OSError, click.ClickException) as errors:
            raise first(errors) from None
        return copied

    try:
        copied = target.run(work)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error
    if target.as_json:
        print_json(copied)
    elif copied.skipped:
        more = f" and {len(copied.skipped) - NAMED} more" if len(copied.skipped) > NAMED else ""
        names = listed(copied.skipped[:NAMED]) + more
        click.echo(f"not copied, because they are FIFOs, sockets or devices: {names}", err=True)
    if not (target.as_json or quiet or destination == STREAM):
        click.echo(str(copied), err=True)


def _place(client: Client, target: Target, text: str) -> Place:
    remote = remote_path(text)
    return Place(text, None) if remote is None else Place(remote[1], client.sandbox(remote[0] or target.sandbox))


async def _copy(begin: Place, end: Place, copied: Copied, shown: bool) -> None:
    """Copy a tree: its directories, then its files, then its symlinks."""
    if begin.box is None:
        tree = await asyncio.to_thread(trees.local_tree, Path(begin.path))
    else:
        tree = await trees.remote_tree(begin.box.files, begin.path)
    copied.skipped = tree.special
    if begin.path.endswith("/."):  # as with cp(1): what is in the directory, not the directory
        tree.name = ""
    with progress(sum(each.size for each in tree.files), shown=shown) as advance:
        if end.box is None:
            await _download(begin, end.path, tree, copied, advance)
            return
        target = await trees.remote_destination(end.box.files, end.path, tree.name)
        await trees.make_remote_directories(end.box.files, target, tree)
        await _each(tree, copied, _upload(begin, end.box, target, advance))
        await trees.make_remote_links(end.box, target, tree)
    copied.links = len(tree.links)


async def _download(begin: Place, destination: str, tree: Tree, copied: Copied, advance: Advance) -> None:
    assert begin.box is not None
    files = begin.box.files
    target = trees.local_destination(destination, tree.name)
    await asyncio.to_thread(trees.make_local_directories, target, tree)

    async def download(each: Entry) -> None:
        local = await asyncio.to_thread(trees.below, target, each.path) if each.path else target
        await asyncio.to_thread(local.parent.mkdir, parents=True, exist_ok=True)
        await files.download(_join(begin.path, each.path), local, progress=_steps(advance))
        await asyncio.to_thread(local.chmod, each.mode)

    await _each(tree, copied, download)
    await asyncio.to_thread(trees.make_local_links, target, tree)
    copied.links = len(tree.links)


def _upload(begin: Place, box: Sandbox, target: str, advance: Advance) -> Copy:
    """Return what copies one file to a sandbox, from here or from a sandbox."""

    async def upload(each: Entry) -> None:
        local = Path(begin.path) / each.path if each.path else Path(begin.path)
        resume = each.size >= RESUMED_FROM
        await box.files.upload(local, _join(target, each.path), mode=each.mode, resume=resume, progress=_steps(advance))

    async def pass_on(each: Entry) -> None:
        assert begin.box is not None
        async with begin.box.files.open_read(_join(begin.path, each.path)) as source:
            await box.files.write(_join(target, each.path), _counted(source, advance), mode=each.mode)

    return upload if begin.box is None else pass_on


async def _from_stream(end: Place, copied: Copied, shown: bool) -> None:
    assert end.box is not None
    if end.path.endswith("/"):
        raise click.UsageError("standard input has no name: DESTINATION has to be a file")

    def count(number: int) -> None:
        copied.bytes += number
        advance(number)

    with progress(None, shown=shown) as advance:
        await end.box.files.write(end.path, _counted(standard_input(), count))
    copied.files = 1


async def _to_stream(begin: Place, copied: Copied, shown: bool) -> None:
    assert begin.box is not None
    async with begin.box.files.open_read(begin.path) as source:
        with progress(source.info.size, shown=shown and not is_terminal(sys.stdout)) as advance:
            async for chunk in source:
                await asyncio.to_thread(write_bytes, bytes(chunk))
                copied.bytes += len(chunk)
                advance(len(chunk))
    copied.files = 1


async def _each(tree: Tree, copied: Copied, copy: Copy) -> None:
    async def one(each: Entry) -> None:
        await copy(each)
        copied.files += 1
        copied.bytes += each.size

    await trees.gather(map(one, tree.files))


async def _counted(chunks: AsyncIterable[bytes], advance: Advance) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
        advance(len(chunk))


def _steps(advance: Advance) -> Callable[[int, int], None]:
    """Return a `Progress` that reports to `advance` how far it has come since its last call."""
    before = 0

    def report(done: int, whole: int) -> None:
        nonlocal before
        advance(done - before)
        before = done

    return report


def _join(path: str, below: str) -> str:
    return str(PurePosixPath(path) / below) if below else path


@contextmanager
def progress(total: int | None, *, shown: bool) -> Iterator[Advance]:
    """Show a progress bar on standard error, if that is a terminal; yields what advances it.

    Args:
        total: How many bytes there are; None: unknown.
        shown: Whether to show it.
    """
    if not shown or not is_terminal(sys.stderr):
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("copy", total=total)
        yield lambda count: bar.advance(task, count)
