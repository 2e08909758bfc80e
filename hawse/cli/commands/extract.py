"""`hawse extract`: unpack an archive that is in a sandbox."""

import sys

import click

from hawse.cli.output import examples, is_terminal, print_json, size
from hawse.cli.target import SandboxPath, Target, target_options
from hawse.client import Client, FileExtractProgress, FileExtractResult, Sandbox


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
    "--strip", type=click.IntRange(0, 100), default=0, metavar="N", help="remove N leading directories of names"
)
@click.option("--max-entries", type=click.IntRange(1, 1_000_000), default=100_000, show_default=True, help="a limit")
@click.option("--max-bytes", type=click.IntRange(1, 1 << 40), default=4 << 30, show_default=True, help="a limit")
@target_options
def extract(
    target: Target, archive: str, directory: str, overwrite: bool, strip: int, max_entries: int, max_bytes: int
) -> None:
    """Unpack ARCHIVE (tar, also with gzip, bzip2, xz or zstd, or zip) into DIRECTORY. Both are in the sandbox.

    Nothing is written outside DIRECTORY. After Ctrl-C, what was unpacked stays.
    """
    visible = is_terminal(sys.stderr) and not target.as_json

    def show(progress: FileExtractProgress) -> None:
        if visible:
            click.echo(f"\r{progress.entries:,} entries, {size(progress.bytes)}\x1b[K", err=True, nl=False)

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

    try:
        done = target.run(work)
    finally:
        if visible:
            click.echo("\r\x1b[K", err=True, nl=False)
    if target.as_json:
        print_json(done)
    else:
        left_out = f", {done.skipped} devices left out" if done.skipped else ""
        click.echo(f"{done.entries:,} entries, {size(done.bytes)}{left_out}")
