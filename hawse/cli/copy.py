"""`hawse cp`: copy files and directories between this machine and a sandbox.

A path in a sandbox is `SANDBOX:PATH`, or `:PATH` for the sandbox of --sandbox. A copy that was interrupted continues
when it is made again: each large file after the bytes that have arrived.
"""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final, NamedTuple

import click

from hawse.cli.output import print_json, printable
from hawse.cli.target import Target, first, target_options
from hawse.client import Client, Files, Sandbox
from hawse.wire import HawseError

Advance = Callable[[int], object]  # takes the bytes that were copied since the last call

AT_ONCE: Final = 8  # files: enough to hide the round trips of small ones
RESUMED_FROM: Final = 4 << 20  # bytes: a smaller file is sent again as quickly as its part is examined
SANDBOX_MAX: Final = 64  # characters of a sandbox's id


class Transfer(NamedTuple):
    """One file to copy."""

    local: Path
    remote: str
    size: int
    mode: int


@dataclass
class Copied:
    """What was copied so far."""

    files: int = 0
    bytes: int = 0


@click.command()
@click.argument("source")
@click.argument("destination")
@click.option("-q", "--quiet", is_flag=True, help="show no progress")
@target_options
def cp(target: Target, source: str, destination: str, quiet: bool) -> None:
    """Copy the file or directory SOURCE to DESTINATION; one of them is in a sandbox, as SANDBOX:PATH or :PATH.

    A destination that is a directory, or ends with a slash, gets SOURCE below its own name.

    The same command again continues a copy that was interrupted.
    """
    remote_source, remote_destination = remote_path(source), remote_path(destination)
    if (remote_source is None) == (remote_destination is None):
        raise click.UsageError("exactly one of SOURCE and DESTINATION has to be in a sandbox: SANDBOX:PATH or :PATH")
    sandbox = (remote_source or remote_destination or ("", ""))[0] or target.sandbox

    async def work(client: Client, _: Sandbox) -> Copied:
        files = client.sandbox(sandbox).files
        if remote_destination is not None:
            transfers = await plan_upload(files, Path(source), remote_destination[1])
        else:
            assert remote_source is not None
            transfers = await plan_download(files, remote_source[1], destination)
        copied = Copied()
        with progress(sum(each.size for each in transfers), shown=not (quiet or target.as_json)) as advance:
            limit = asyncio.Semaphore(AT_ONCE)

            async def copy(each: Transfer) -> None:
                async with limit:
                    before = 0

                    def report(done: int, whole: int) -> None:
                        nonlocal before
                        advance(done - before)
                        before = done

                    if remote_destination is not None:
                        resume = each.size >= RESUMED_FROM
                        await files.upload(each.local, each.remote, mode=each.mode, resume=resume, progress=report)
                    else:
                        await asyncio.to_thread(each.local.parent.mkdir, parents=True, exist_ok=True)
                        await files.download(each.remote, each.local, progress=report)
                        await asyncio.to_thread(each.local.chmod, each.mode)
                copied.files += 1
                copied.bytes += each.size

            try:
                async with asyncio.TaskGroup() as tasks:
                    for each in transfers:
                        tasks.create_task(copy(each))
            except* (HawseError, OSError) as errors:
                raise first(errors) from None
        return copied

    try:
        copied = target.run(work)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: {error.strerror}") from error
    if target.as_json:
        print_json(copied)
    elif not quiet:
        click.echo(f"{copied.files} {'file' if copied.files == 1 else 'files'} copied", err=True)


def remote_path(text: str) -> tuple[str, str] | None:
    """Return the sandbox and the path of `SANDBOX:PATH`; None for a local path, such as `./a:b` or `C/a:b`."""
    sandbox, colon, path = text.partition(":")
    if not colon or "/" in sandbox or len(sandbox) > SANDBOX_MAX:
        return None
    return sandbox, path or "."


async def plan_upload(files: Files, source: Path, destination: str) -> list[Transfer]:
    """Return the files to send. Directories without files are created. Symlinks are followed, special files left out.

    Args:
        files: The files of the sandbox.
        source: A local file or directory.
        destination: The path in the sandbox.

    Raises:
        OSError: `source` cannot be read.
    """
    info = await asyncio.to_thread(source.stat)
    target = PurePosixPath(destination)
    if destination.endswith("/") or await _is_directory(files, destination):
        target /= source.resolve().name
    if not source.is_dir():
        return [Transfer(source, str(target), info.st_size, info.st_mode & 0o777)]
    found = await asyncio.to_thread(_local_tree, source)
    for directory in [name for name, is_directory in found if is_directory]:
        await files.mkdir(str(target / directory), parents=True)
    transfers = []
    for name in [name for name, is_directory in found if not is_directory]:
        info = (source / name).stat()
        transfers.append(Transfer(source / name, str(target / name), info.st_size, info.st_mode & 0o777))
    return transfers


async def plan_download(files: Files, source: str, destination: str) -> list[Transfer]:
    """Return the files to fetch. Directories are created; symlinks below a directory and special files are left out.

    Args:
        files: The files of the sandbox.
        source: The path in the sandbox.
        destination: The local path.

    Raises:
        click.ClickException: The sandbox names a file outside of `source`.
    """
    info = await files.stat(source)
    target = Path(destination)
    if destination.endswith("/") or target.is_dir():
        target /= PurePosixPath(source).name or "workspace"
    if info.type != "directory":
        return [Transfer(target, source, info.size, info.mode & 0o777)]
    target.mkdir(parents=True, exist_ok=True)
    transfers = []
    async for entry in files.list(source, recursive=True):
        path = PurePosixPath(entry.path)
        if path.is_absolute() or ".." in path.parts:
            raise click.ClickException(f"the sandbox names a file outside of the directory: {printable(entry.path)}")
        if entry.type == "directory":
            (target / path).mkdir(parents=True, exist_ok=True)
        elif entry.type == "file":
            transfers.append(Transfer(target / path, str(PurePosixPath(source) / path), entry.size, entry.mode & 0o777))
    return transfers


@contextmanager
def progress(total: int, *, shown: bool) -> Iterator[Advance]:
    """Show a progress bar of `total` bytes on standard error, if that is a terminal; yields what advances it."""
    if not shown or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn

    columns = (BarColumn(), DownloadColumn(binary_units=True), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("copy", total=total)
        yield lambda count: bar.advance(task, count)


async def _is_directory(files: Files, path: str) -> bool:
    try:
        return (await files.stat(path)).type == "directory"
    except HawseError as error:
        if error.code not in ("not_found", "not_directory"):
            raise
        return False


def _local_tree(root: Path) -> list[tuple[str, bool]]:
    """The paths below a directory, relative to it, and whether each is a directory."""
    found = []
    for parent, directories, names in os.walk(root):
        for name in directories:
            found.append((str((Path(parent) / name).relative_to(root)), True))
        for name in names:
            if (path := Path(parent) / name).is_file():
                found.append((str(path.relative_to(root)), False))
    return found
