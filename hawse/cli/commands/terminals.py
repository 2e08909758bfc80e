"""`hawse terminals` and `hawse wait`: list a sandbox's terminals, and wait for them."""

import math
import time
from typing import Final

import click

from hawse.api.terminals import TerminalInfo, TerminalWaitResult
from hawse.cli.candidates import offer, terminals as terminals_of
from hawse.cli.commands.shell import EXIT_TIMED_OUT, exit_code
from hawse.cli.output import duration, examples, print_json, printable
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox

LONGEST_WAIT: Final = 86_400.0  # time limit for a single call, in seconds


@click.command(epilog=examples("hawse terminals -s build"))
@target_options
def terminals(target: Target) -> None:
    """List the running terminals of a sandbox, and those that ended most recently."""

    async def work(client: Client, box: Sandbox) -> list[TerminalInfo]:
        return await box.terminals.list()

    target.print_list(work, ["ID", "STATE", "SIZE", "VIEWERS", "AGE", "WAITS", "DIRECTORY", "TITLE"], _row)


def _row(info: TerminalInfo) -> list[object]:
    return [
        info.id,
        info.state if info.exit is None else f"exited {exit_code(info.exit)}",
        f"{info.cols}x{info.rows}",
        info.viewers,
        duration(time.time() - info.started),
        "" if info.waiting.kind == "no" else info.waiting.kind,
        info.cwd,
        info.title,
    ]


@click.command(epilog=examples("hawse wait main", "hawse wait main --for-input --timeout 60"))
@click.argument("id", shell_complete=offer(terminals_of))
@click.option("--for-input", is_flag=True, help="also return when a program waits for input, and print its prompt")
@click.option("--timeout", type=click.FloatRange(min=0, max=86_400), metavar="SECONDS", help="give up after this time")
@target_options
def wait(target: Target, id: str, for_input: bool, timeout: float | None) -> int:
    """Wait until the terminal ID ends or a program in it waits for input. Returns the terminal's exit code.

    If a program waits for input, the exit code is 0, and two fields are printed, separated by a tab: the kind of input
    (`line`, `secret` or `key`) and the prompt. After --timeout, the exit code is 124.
    """

    async def work(client: Client, box: Sandbox) -> TerminalWaitResult:
        since = (await box.terminals.get(id)).offset
        async with box.terminals.attach(id, since=since, read_only=True) as terminal:
            until = math.inf if timeout is None else time.monotonic() + timeout
            while True:
                left = min(max(until - time.monotonic(), 0.001), LONGEST_WAIT)
                waited = await terminal.wait_for(exit=True, waiting=for_input, timeout=left)
                if waited.event != "timeout" or time.monotonic() >= until:
                    return waited

    waited = target.run(work)
    if target.as_json:
        print_json(waited)
    elif waited.waiting is not None:
        click.echo(f"{waited.waiting.kind}\t{printable(waited.waiting.prompt or '')}".rstrip())
    if waited.exit is not None:
        return exit_code(waited.exit)
    return EXIT_TIMED_OUT if waited.event == "timeout" else 0
