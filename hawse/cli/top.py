"""`hawse top`: what a sandbox does, live."""

import asyncio
import shlex
import sys
import time
from typing import Final, NamedTuple

import click

from hawse.api.processes import ProcessInfo
from hawse.api.runtime import RuntimeMetricsResult
from hawse.api.terminals import TerminalInfo
from hawse.cli.output import duration, print_json, printable, size
from hawse.cli.target import Target, target_options
from hawse.client import Client, Sandbox

INTERVAL: Final = 2.0  # s between two looks


class Look(NamedTuple):
    """What a sandbox does at one time."""

    at: float
    metrics: RuntimeMetricsResult
    terminals: list[TerminalInfo]
    processes: list[ProcessInfo]


@click.command()
@click.option("--interval", type=click.FloatRange(min=0.1), default=INTERVAL, show_default=True, help="in seconds")
@click.option("--once", is_flag=True, help="look once")
@target_options
def top(target: Target, interval: float, once: bool) -> None:
    """Show what a sandbox does, live, until Ctrl-C: terminals and processes with their output, memory and CPU time.

    With --json, or if the output is not a terminal: one line of JSON each time.
    """

    async def work(client: Client, box: Sandbox) -> None:
        before = None
        if target.as_json or not sys.stdout.isatty():
            while True:
                print_json((await _look(box))._asdict())
                if once:
                    return
                await asyncio.sleep(interval)
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        with Live(console=Console(), screen=not once, auto_refresh=False) as live:
            while True:
                look = await _look(box)
                live.update(Text(render(look, before, target.sandbox), no_wrap=True, overflow="ellipsis"), refresh=True)
                if once:
                    return
                before = look
                await asyncio.sleep(interval)

    target.run(work)


async def _look(box: Sandbox) -> Look:
    metrics, terminals, processes = await asyncio.gather(box.metrics(), box.terminals.list(), box.processes.list())
    return Look(time.time(), metrics, terminals, processes)


def render(look: Look, before: Look | None, sandbox: str) -> str:
    """Return the page as text.

    Args:
        look: What to show.
        before: The look before, for rates. None: there are no rates yet.
        sandbox: The id of the sandbox.
    """
    passed = look.at - before.at if before else 0.0
    metrics = look.metrics
    cpu = f"{(metrics.cpu - before.metrics.cpu) / passed:.1%}" if before and passed > 0 else "-"
    lines = [
        f"sandbox {sandbox}   up {duration(look.at - metrics.started)}   runtime {size(metrics.memory)}, CPU {cpu}",
        f"terminals {metrics.terminals}, viewers {metrics.viewers}, processes {metrics.processes}, "
        f"sessions {metrics.sessions}",
        "",
        f"{'TERMINAL':20} {'SIZE':9} {'VIEWERS':>7} {'OUTPUT':>10} {'RATE':>12}  TITLE OR DIRECTORY",
    ]
    offsets = {each.instance: each.offset for each in before.terminals} if before else {}
    for each in look.terminals:
        if each.state != "running":
            continue
        rate = (each.offset - offsets[each.instance]) / passed if each.instance in offsets and passed > 0 else 0.0
        lines.append(
            f"{printable(each.id)[:20]:20} {f'{each.cols}x{each.rows}':9} {each.viewers:7} {size(each.offset):>10} "
            f"{size(int(rate)) + '/s':>12}  {printable(each.title or each.cwd)}"
        )
    lines += ["", f"{'PROCESS':20} {'PID':>9} {'AGE':>7} {'OUTPUT':>10}  COMMAND"]
    for process in look.processes:
        if process.state == "running":
            printed = process.stdout.offset + process.stderr.offset
            lines.append(
                f"{printable(process.id)[:20]:20} {process.pid:9} {duration(look.at - process.started):>7} "
                f"{size(printed):>10}  {printable(shlex.join(process.argv))}"
            )
    return "\n".join(lines)
