"""`hawse watch`: print file changes as they happen."""

import click

from hawse.cli.output import examples, print_json, printable
from hawse.cli.target import SandboxPath, Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox, WatchRescan


@click.command(
    epilog=examples(
        "hawse watch src --include '*.py'",
    )
)
@click.argument("path", default=".", type=SandboxPath())
@click.option("--include", multiple=True, metavar="GLOB", help="report only matching files; repeatable")
@click.option("--exclude", multiple=True, metavar="GLOB", help="do not report matching files; repeatable")
@target_options
def watch(target: Target, path: str, include: tuple[str, ...], exclude: tuple[str, ...]) -> None:
    """Print changes below the directory PATH as they happen, until Ctrl-C: `added`, `modified` or `deleted`."""

    async def work(client: Client, box: Sandbox) -> None:
        await box.files.stat(path)  # starts a sleeping sandbox; the watch would only wait for it to be started
        async with box.watches.start(path, include=include or None, exclude=exclude or None) as changes:
            if not target.as_json:
                click.echo(f"watching {printable(changes.path)}", err=True)
            async for change in changes:
                if target.as_json:
                    print_json(change)
                elif isinstance(change, WatchRescan):
                    click.echo(f"rescan    earlier changes may be missing ({change.reason})")
                else:
                    click.echo(f"{change.type:9} {printable(change.path)}{'/' if change.directory else ''}")

    target.run(work)
