"""`hawse backup`: create, list, restore and delete backups of directories."""

import time

import click

from hawse.api.backups import RestoreMode
from hawse.cli.candidates import backups as stored, offer
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.each import for_each
from hawse.cli.group import Group
from hawse.cli.output import ProgressLine, examples, listed, print_json, print_table, printable, size
from hawse.cli.target import Target
from hawse.cli.target_options import gateway_options, target_options
from hawse.client import BackupInfo, BackupProgress, BackupRestoreResult, BackupUsageResult, Client, Sandbox


@click.group(cls=Group)
def backup() -> None:
    """Create, list, restore and delete backups of directories. The gateway stores them."""


@backup.command(
    epilog=examples(
        "hawse backup create --name 'before the upgrade' --exclude node_modules",
        "hawse backup create -s build src",
    )
)
@click.argument("path", default=".")
@click.option("--name", metavar="TEXT", help="a display name")
@click.option("--ttl", type=click.FloatRange(0, 10**9, min_open=True), metavar="S", help="delete it after S seconds")
@click.option("--exclude", multiple=True, metavar="GLOB", help="exclude matching files; repeatable")
@click.option("--gitignore", is_flag=True, help="exclude files that git ignores")
@click.option("--compression", type=click.Choice(["none", "gzip", "zstd"]), help="the compression (zstd)")
@click.option(
    "--overlay", is_flag=True, help="prepare `restore --mode overlay`, which is slow the first time otherwise"
)
@target_options
def create(
    target: Target,
    path: str,
    name: str | None,
    ttl: float | None,
    exclude: tuple[str, ...],
    gitignore: bool,
    compression: str | None,
    overlay: bool,
) -> None:
    """Back up the directory PATH in a sandbox, by default the workspace, and print the backup's id."""

    async def work(client: Client, box: Sandbox) -> BackupInfo:
        return await box.backups.create(
            path,
            name=name,
            ttl=ttl,
            exclude=exclude,
            gitignore=gitignore,
            compression=compression,  # type: ignore[arg-type]  # one of the choices
            overlay=overlay,
            on_progress=lambda progress: line.show(_described(progress)),
        )

    with ProgressLine(hidden=target.as_json) as line:
        made = target.run(work)
    if target.as_json:
        print_json(made)
        return
    click.echo(made.id)
    if made.changed:
        click.echo(f"hawse: {made.changed} files were changed while they were being read", err=True)
    if made.skipped:
        click.echo(f"hawse: {made.skipped} devices or sockets were skipped", err=True)


@backup.command("ls", epilog=examples("hawse backup ls -s build", "hawse backup ls --all"))
@click.option("--all", "everywhere", is_flag=True, help="of all sandboxes")
@target_options
def list_backups(target: Target, everywhere: bool) -> None:
    """List a sandbox's backups."""

    async def work(client: Client, box: Sandbox) -> list[BackupInfo]:
        return await client.backups.list(sandbox=None if everywhere else box.id)

    found = target.run(work)
    if target.as_json:
        print_json(found)
        return
    rows = [
        [one.id, one.sandbox, printable(one.path), size(one.size), _date(one.created), printable(one.name or "")]
        for one in found
    ]
    print_table(["ID", "SANDBOX", "PATH", "SIZE", "CREATED", "NAME"], rows)


@backup.command(
    epilog=examples(
        "hawse backup restore b-3f1c9a5be2d07c44",
        "hawse backup restore -s other b-3f1c9a5be2d07c44 copy",
        "hawse backup restore --mode overlay b-3f1c9a5be2d07c44 project",
    )
)
@click.argument("backup", shell_complete=offer(stored))
@click.argument("path", required=False)
@click.option(
    "--mode",
    type=click.Choice(["copy", "overlay"]),
    default="copy",
    help="overlay: copy nothing, mount the backup at an empty or new directory (copy)",
)
@yes_option
@target_options
def restore(target: Target, backup: str, path: str | None, mode: RestoreMode, yes: bool) -> None:
    """Restore the directory PATH from BACKUP, replacing its current content.

    PATH is a directory in the sandbox of --sandbox; by default, the backup's directory. With --mode overlay, the
    restore is instant, and `hawse mount rm` removes the overlay along with all changes.
    """
    place = "the backup's directory" if path is None else printable(path)
    if mode == "copy":
        question = f"Restore {printable(backup)} to {place} in sandbox {printable(target.sandbox)}?"
        confirm(f"{question} Its current content is removed.", yes=yes)

    async def work(client: Client, box: Sandbox) -> BackupRestoreResult:
        return await box.backups.restore(
            backup, path=path, mode=mode, on_progress=lambda progress: line.show(_described(progress))
        )

    with ProgressLine(hidden=target.as_json) as line:
        done = target.run(work)
    if target.as_json:
        print_json(done)
    elif done.mount is not None:
        click.echo(f"{done.entries:,} entries, mount {done.mount}")
    else:
        skipped = f", {done.skipped} attributes cannot be set here" if done.skipped else ""
        click.echo(f"{done.entries:,} entries, {size(done.bytes)}{skipped}")


@backup.command(epilog=examples("hawse backup usage"))
@gateway_options
def usage(target: Target) -> None:
    """Show your backup store usage and limits."""

    async def work(client: Client, _: Sandbox) -> BackupUsageResult:
        return await client.backups.usage()

    found = target.run(work)
    if target.as_json:
        print_json(found)
    else:
        click.echo(usage_text(found))


def usage_text(found: BackupUsageResult) -> str:
    """Describe the user's backup store usage."""
    count = f"{found.backups:,}" if found.max_backups is None else f"{found.backups:,} of {found.max_backups:,}"
    return f"{count} {'backup' if count == '1' else 'backups'}, {size(found.bytes)} of {size(found.max_bytes)}"


@backup.command(epilog=examples("hawse backup rm --yes b-3f9c"))
@click.argument("backups", nargs=-1, required=True, metavar="BACKUP...", shell_complete=offer(stored))
@yes_option
@gateway_options
def rm(target: Target, backups: tuple[str, ...], yes: bool) -> int:
    """Delete backups."""
    confirm(f"Delete {listed(backups)}?", yes=yes)

    async def delete(client: Client, _: Sandbox, id: str) -> None:
        await client.backups.delete(id)

    return for_each(target, backups, delete)[1]


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _described(progress: BackupProgress) -> str:
    entries = f"{progress.entries:,} entries, " if progress.entries else ""
    return f"{progress.phase}: {entries}{size(progress.bytes)}"
