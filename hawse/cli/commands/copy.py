"""`hawse cp`: copy files and directories between this machine and sandboxes.

A path in a sandbox is `SANDBOX:PATH`, or `:PATH` for the sandbox of --sandbox. To resume an interrupted copy, repeat
the command; large files are resumed where they left off.
"""

import asyncio
import sys
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import click

from hawse.cli.commands.exec import standard_input
from hawse.cli.output import examples, is_terminal, listed, print_json, printable, write_bytes
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Files, Sandbox
from hawse.client.files.endpoints import Advance, LocalEndpoint, RemoteEndpoint
from hawse.client.files.local_files import Progress
from hawse.client.files.tree_transfer import TreeResult, TreeTransfer
from hawse.wire import HawseError

NAMED: Final = 10  # maximum number of skipped files to list by name
SANDBOX_MAX: Final = 64  # maximum length of a sandbox id
STREAM: Final = "-"  # path that stands for standard input or output


@dataclass(frozen=True)
class CopyEndpoint:
    """The source or destination of a copy: a local path, a path in a sandbox, or `-`."""

    path: str
    box: Sandbox | None  # None means this machine

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
@click.option(
    "-r", "-R", "-a", "-p", "ignored", is_flag=True, help="not needed, because directories are always copied (cp(1))"
)
@target_options
def cp(target: Target, source: str, destination: str, quiet: bool, ignored: bool) -> int:
    """Copy the file or directory SOURCE to DESTINATION. At least one must be in a sandbox: SANDBOX:PATH or :PATH.

    If DESTINATION is a directory or ends with a slash, SOURCE is copied into it; SOURCE/. is the content of SOURCE.
    Modes, modification times, holes and symlinks are preserved. FIFOs, sockets and devices are reported and skipped. If
    a file cannot be copied, it is reported, the other files are copied, and the exit code is 1. `-` is standard input
    or output.

    To continue an interrupted copy, repeat the command.
    """
    if remote_path(source) is None and remote_path(destination) is None:
        raise click.UsageError("SOURCE or DESTINATION must be in a sandbox: SANDBOX:PATH or :PATH")

    async def work(client: Client, _: Sandbox) -> TreeResult:
        begin, end = (_place(client, target, text) for text in (source, destination))
        shown = not (quiet or target.as_json)
        if begin.is_stream:
            return await _from_stream(end, shown)
        if end.is_stream:
            return await _to_stream(begin, shown)
        return await _copy(begin, end, shown)

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
        click.echo(summary(copied), err=True)
    return 1 if copied.failed else 0


def summary(copied: TreeResult) -> str:
    """Summarize the copy in one line."""
    links = f", {copied.links} {'symlink' if copied.links == 1 else 'symlinks'}" if copied.links else ""
    failed = f", {len(copied.failed)} not" if copied.failed else ""
    return f"{copied.files} {'file' if copied.files == 1 else 'files'}{links} copied{failed}"


def remote_path(text: str) -> tuple[str, str] | None:
    """Return the sandbox and path from `SANDBOX:PATH`; None for a local path, such as `./a:b` or `C/a:b`."""
    sandbox, colon, path = text.partition(":")
    if not colon or "/" in sandbox or len(sandbox) > SANDBOX_MAX:
        return None
    return sandbox, path or "."


def _place(client: Client, target: Target, text: str) -> CopyEndpoint:
    remote = remote_path(text)
    return (
        CopyEndpoint(text, None)
        if remote is None
        else CopyEndpoint(remote[1], client.sandbox(remote[0] or target.sandbox))
    )


async def _copy(begin: CopyEndpoint, end: CopyEndpoint, shown: bool) -> TreeResult:
    into = begin.path.endswith("/.")  # as with cp(1), the content of the directory rather than the directory itself
    source = LocalEndpoint(Path(begin.path)) if begin.box is None else RemoteEndpoint(begin.box.files, begin.path)
    name = "" if into else _name(begin)
    target: LocalEndpoint | RemoteEndpoint
    if end.box is None:
        target = LocalEndpoint(await asyncio.to_thread(local_destination, end.path, name))
    else:
        target = RemoteEndpoint(end.box.files, await remote_destination(end.box.files, end.path, name))
    with progress(None, shown=shown) as bar:
        transfer = TreeTransfer(source, target, progress=bar.progress, on_error=_report, into=into)
        return await transfer.run()


def _name(begin: CopyEndpoint) -> str:
    if begin.box is None:
        return Path(begin.path).resolve().name
    return PurePosixPath(begin.path).name or "workspace"


def _report(path: str, error: Exception) -> None:
    """Report skipped files."""
    if isinstance(error, HawseError):
        why = f"{error.code}: {error.message}"
    else:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
    click.echo(printable(f"{path}: {why}"), err=True)


async def remote_destination(files: Files, destination: str, name: str) -> str:
    """Return the path to copy the source to. If the path is a directory or ends with a slash, `name` is appended."""
    if destination.endswith("/") or await _is_directory(files, destination):
        return str(PurePosixPath(destination) / name)
    return destination


def local_destination(destination: str, name: str) -> Path:
    """Return the path to copy the source to. If the path is a directory or ends with a slash, `name` is appended."""
    target = Path(destination)
    return target / name if destination.endswith("/") or target.is_dir() else target


async def _is_directory(files: Files, path: str) -> bool:
    try:
        return (await files.stat(path)).type == "directory"
    except HawseError as error:
        if error.code not in ("not_found", "not_directory"):
            raise
        return False


async def _from_stream(end: CopyEndpoint, shown: bool) -> TreeResult:
    assert end.box is not None
    if end.path.endswith("/"):
        raise click.UsageError("standard input has no name: DESTINATION must be a file")
    with progress(None, shown=shown) as bar:
        done = await end.box.files.write(end.path, _counted(standard_input(), bar.advance))
    return TreeResult(files=1, bytes=done.bytes)


async def _to_stream(begin: CopyEndpoint, shown: bool) -> TreeResult:
    assert begin.box is not None
    copied = TreeResult(files=1)
    async with begin.box.files.open_read(begin.path) as source:
        with progress(source.info.size, shown=shown and not is_terminal(sys.stdout)) as bar:
            async for chunk in source:
                await asyncio.to_thread(write_bytes, bytes(chunk))
                copied.bytes += len(chunk)
                bar.advance(len(chunk))
    return copied


async def _counted(chunks: AsyncIterable[bytes], advance: Advance) -> AsyncIterator[bytes]:
    async for chunk in chunks:
        yield chunk
        advance(len(chunk))


@dataclass(frozen=True)
class Bar:
    """Functions that advance a progress bar by a number of bytes, or set it to a number of bytes out of a total."""

    advance: Advance
    progress: Progress


@contextmanager
def progress(total: int | None, *, shown: bool) -> Iterator[Bar]:
    """Show a progress bar on standard error, if it is a terminal. Yields the functions that advance it.

    Args:
        total: Total number of bytes; None if unknown.
        shown: Whether to show the bar.
    """
    if not shown or not is_terminal(sys.stderr):
        yield Bar(lambda count: None, lambda done, whole: None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("copy", total=total)
        yield Bar(
            lambda count: bar.advance(task, count), lambda done, whole: bar.update(task, completed=done, total=whole)
        )
