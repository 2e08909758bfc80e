"""`hawse ls`, `hawse cat`, `hawse edit` and `hawse extract`: work with files in a sandbox."""

import asyncio
import os
import shlex
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import click

from hawse.api.files import FileEntry
from hawse.cli.each import for_each
from hawse.cli.output import ProgressLine, examples, print_json, print_table, printable, size, write_bytes
from hawse.cli.target import SandboxPath, Target
from hawse.cli.target_options import target_options
from hawse.client import Client, FileExtractProgress, FileExtractResult, Sandbox
from hawse.wire import HawseError

EDIT_MAX = 64 << 20  # maximum size of a file to edit, in bytes
SUFFIXES = {"directory": "/", "symlink": "@", "fifo": "|", "socket": "="}  # the indicators that `ls -F` appends
TYPE_BITS = {"file": stat.S_IFREG, "directory": stat.S_IFDIR, "symlink": stat.S_IFLNK, "fifo": stat.S_IFIFO}


@dataclass(frozen=True)
class Edited:
    """The result of `hawse edit`: whether the file was changed, and its size in bytes."""

    saved: bool
    bytes: int

    def __str__(self) -> str:
        return f"saved, {size(self.bytes)}" if self.saved else "not changed"


@click.command(epilog=examples("hawse ls src", "hawse ls -la -s build :logs"))
@click.argument("path", default=".", type=SandboxPath())
@click.option("-l", "--long", is_flag=True, help="show mode, size and modification time")
@click.option("-a", "--all", "hidden", is_flag=True, help="include names that start with a dot")
@click.option("-R", "--recursive", is_flag=True, help="include subdirectories")
@target_options
def ls(target: Target, path: str, long: bool, hidden: bool, recursive: bool) -> None:
    """List the directory PATH, sorted by name. A relative path is resolved against the workspace."""

    async def work(client: Client, box: Sandbox) -> list[FileEntry]:
        entries = box.files.list(path, hidden=hidden, recursive=recursive)
        return sorted([entry async for entry in entries], key=lambda entry: entry.path)

    found = target.run(work)
    if target.as_json:
        print_json(found)
    elif long:
        print_table(["MODE", "SIZE", "MODIFIED", "NAME"], [_row(entry) for entry in found])
    else:
        for entry in found:
            click.echo(printable(entry.path) + SUFFIXES.get(entry.type, ""))


@click.command(epilog=examples("hawse cat src/main.py", "hawse cat logs/a logs/b > both"))
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=SandboxPath())
@target_options
def cat(target: Target, paths: tuple[str, ...]) -> int:
    """Print the content of files, in the order given."""

    async def show(_: Client, box: Sandbox, path: str) -> None:
        async with box.files.open_read(path) as file:
            async for chunk in file:
                await asyncio.to_thread(write_bytes, bytes(chunk))

    return for_each(target, paths, show)[1]


@click.command(epilog=examples("hawse edit src/main.py"))
@click.argument("path", type=SandboxPath())
@target_options
def edit(target: Target, path: str) -> None:
    """Edit the file PATH in the local editor (VISUAL or EDITOR), and save it if it was changed.

    If the file was changed in the sandbox in the meantime, it is not overwritten, and the edited text remains in a
    local file.
    """

    async def work(client: Client, box: Sandbox) -> Edited:
        version = await _version(box, path)
        before = b"" if version is None else await box.files.read(path, max_size=EDIT_MAX)
        local = Path(tempfile.mkdtemp(prefix="hawse-edit-")) / PurePosixPath(path).name
        local.write_bytes(before)
        await _run_editor(local)
        after = local.read_bytes()
        if after == before:
            _remove(local)
            return Edited(False, len(after))
        try:
            await box.files.write(path, after, if_version=version or "")
        except HawseError as error:
            if error.code != "conflict":
                raise
            raise click.ClickException(f"{path} has changed in the sandbox; your text is in {local}") from error
        _remove(local)
        return Edited(True, len(after))

    target.print_result(work, str)


async def _version(box: Sandbox, path: str) -> str | None:
    """Return the version of a file, or None if the file does not exist."""
    try:
        return (await box.files.stat(path)).version
    except HawseError as error:
        if error.code != "not_found":
            raise
        return None


async def _run_editor(path: Path) -> None:
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        run = await asyncio.create_subprocess_exec(*shlex.split(editor), str(path))
    except OSError as error:
        raise click.ClickException(f"the editor {editor!r} cannot be started: {error.strerror}") from error
    try:
        code = await run.wait()
    except asyncio.CancelledError:  # a signal has cancelled the command
        with suppress(ProcessLookupError):
            run.terminate()
        await run.wait()
        click.echo(f"your text is in {path}", err=True)
        raise
    if code != 0:
        raise click.ClickException(f"the editor ended with exit code {code}; your text is in {path}")


def _remove(local: Path) -> None:
    local.unlink(missing_ok=True)
    local.parent.rmdir()


def _row(entry: FileEntry) -> list[object]:
    mode = stat.filemode(TYPE_BITS.get(entry.type, 0) | entry.mode)
    name = entry.path if entry.target is None else f"{entry.path} -> {entry.target}"
    return [mode, size(entry.size), time.strftime("%Y-%m-%d %H:%M", time.localtime(entry.mtime)), name]


@click.command(
    epilog=examples(
        "hawse extract release.tar.gz",
        "hawse extract --strip 1 release.zip app",
    )
)
@click.argument("archive", type=SandboxPath())
@click.argument("directory", default=".", type=SandboxPath())
@click.option("--overwrite", is_flag=True, help="replace existing files")
@click.option(
    "--strip", type=click.IntRange(0, 100), default=0, metavar="N", help="remove the first N directories from each name"
)
@click.option("--max-entries", type=click.IntRange(1, 1_000_000), default=100_000, show_default=True, help="a limit")
@click.option("--max-bytes", type=click.IntRange(1, 1 << 40), default=4 << 30, show_default=True, help="a limit")
@target_options
def extract(
    target: Target, archive: str, directory: str, overwrite: bool, strip: int, max_entries: int, max_bytes: int
) -> None:
    """Unpack ARCHIVE (zip, or tar with optional gzip, bzip2, xz or zstd) into DIRECTORY, both in the sandbox.

    Nothing is written outside DIRECTORY. After Ctrl-C, unpacked files remain.
    """

    def show(progress: FileExtractProgress) -> None:
        line.show(f"{progress.entries:,} entries, {size(progress.bytes)}")

    async def work(client: Client, box: Sandbox) -> FileExtractResult:
        return await box.files.extract(
            archive,
            directory,
            overwrite=overwrite,
            strip=strip,
            max_entries=max_entries,
            max_bytes=max_bytes,
            on_progress=show,
        )

    with ProgressLine(hidden=target.as_json) as line:
        done = target.run(work)
    if target.as_json:
        print_json(done)
    else:
        left_out = f", {done.skipped} devices skipped" if done.skipped else ""
        click.echo(f"{done.entries:,} entries, {size(done.bytes)}{left_out}")
