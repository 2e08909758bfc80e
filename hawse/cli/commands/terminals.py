"""`hawse terminals`: the terminals of a sandbox."""

import time

import click

from hawse.api.terminals import TerminalInfo
from hawse.cli.commands.shell import exit_code
from hawse.cli.output import duration, examples
from hawse.cli.target import Target, target_options
from hawse.client import Client, Sandbox


@click.command(epilog=examples("hawse terminals -s build"))
@target_options
def terminals(target: Target) -> None:
    """List the terminals of a sandbox: running ones, and the latest ones that have ended."""

    async def work(client: Client, box: Sandbox) -> list[TerminalInfo]:
        return await box.terminals.list()

    target.print_list(work, ["ID", "STATE", "SIZE", "VIEWERS", "AGE", "DIRECTORY", "TITLE"], _row)


def _row(info: TerminalInfo) -> list[object]:
    return [
        info.id,
        info.state if info.exit is None else f"exited {exit_code(info.exit)}",
        f"{info.cols}x{info.rows}",
        info.viewers,
        duration(time.time() - info.started),
        info.cwd,
        info.title,
    ]
