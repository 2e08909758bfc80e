"""`hawse top`: show live activity in a sandbox."""

import asyncio
import shlex
import sys
import time
from typing import Final, NamedTuple

import click

from hawse.api.processes import ProcessInfo
from hawse.api.runtime import RuntimeMetricsResult
from hawse.api.terminals import TerminalInfo
from hawse.cli.local_terminal.terminal import LocalTerminal
from hawse.cli.output import duration, examples, is_terminal, print_json, printable, size
from hawse.cli.target import Target, first
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox
from hawse.wire import HawseError

INTERVAL: Final = 2.0  # seconds between samples
SORTS: Final = {"n": "name", "a": "age", "o": "output", "r": "rate"}  # sort orders, keyed by the key that selects them
QUIT: Final = "q\x03"  # includes Ctrl-C, which does not send a signal in raw mode
ENTER: Final = b"\x1b[?1049h\x1b[?25l\x1b[?7l"  # alternate screen, hidden cursor, truncated lines
LEAVE: Final = b"\x1b[?7h\x1b[?25h\x1b[?1049l"


class Look(NamedTuple):
    """A sample of a sandbox's activity."""

    at: float  # seconds since 1970, used to compute ages
    clock: float  # seconds on the monotonic clock, used to compute rates
    metrics: RuntimeMetricsResult
    terminals: list[TerminalInfo]
    processes: list[ProcessInfo]


class Row(NamedTuple):
    """A terminal or process on the page. `rate` is in bytes of output per second."""

    name: str
    age: float
    output: int
    rate: float
    cells: str  # columns after the name
    text: str  # the last column


class UserQuit(Exception):
    """The user typed one of the keys in `QUIT`."""


@click.command(epilog=examples("hawse top -s build", "hawse top --once --json"))
@click.option("--interval", type=click.FloatRange(min=0.1), default=INTERVAL, show_default=True, help="in seconds")
@click.option("--once", is_flag=True, help="look once")
@click.option(
    "--sort", type=click.Choice(list(SORTS.values())), default="rate", show_default=True, help="the sort order"
)
@target_options
def top(target: Target, interval: float, once: bool, sort: str) -> None:
    """Show a sandbox's live activity: terminals and processes with their output, memory and CPU time.

    The keys n, a, o and r sort by name, age, output and rate; q quits.

    With --json, or if the output is not a terminal, each sample is one line of JSON.
    """
    shown = is_terminal(sys.stdout) and not target.as_json
    if shown and not once and not sys.stdin.isatty():
        raise click.ClickException("standard input must be a terminal; --once and --json do not need one")

    async def work(client: Client, box: Sandbox) -> None:
        if shown and once:
            click.echo(render(await _look(box), None, box.id, sort))
        elif shown:
            await Page(box, interval, sort).show()
        else:
            while True:
                print_json((await _look(box))._asdict())
                if once:
                    return
                await asyncio.sleep(interval)

    target.run(work)


class Page:
    """The `hawse top` page in the local terminal.

    Args:
        box: The sandbox.
        interval: Seconds between samples.
        sort: The sort order: one of `SORTS`.
    """

    def __init__(self, box: Sandbox, interval: float, sort: str) -> None:
        self._box, self._interval, self._sort = box, interval, sort
        self._local = LocalTerminal(leave=LEAVE)
        self._looks: list[Look] = []  # the two latest samples
        self._changed = asyncio.Event()

    async def show(self) -> None:
        """Show the page until the user quits. Raises `HawseError`."""
        with self._local:
            await self._local.write(ENTER)
            try:
                async with asyncio.TaskGroup() as tasks:
                    for each in (self._look(), self._read_keys(), self._follow_size(), self._draw()):
                        tasks.create_task(each)
            except* UserQuit:
                pass
            except* HawseError as errors:
                raise first(errors) from None

    async def _look(self) -> None:
        while True:
            self._looks = [*self._looks[-1:], await _look(self._box)]
            self._changed.set()
            await asyncio.sleep(self._interval)

    async def _read_keys(self) -> None:
        async for data in self._local.input():
            for key in data.decode("latin-1"):
                if key in QUIT:
                    raise UserQuit
                self._sort = SORTS.get(key, self._sort)
            self._changed.set()
        raise UserQuit  # the terminal was closed

    async def _follow_size(self) -> None:
        async for _ in self._local.sizes():
            if self._local.continued.is_set():
                self._local.continued.clear()
                await self._local.write(ENTER)
            self._changed.set()

    async def _draw(self) -> None:
        while True:
            await self._changed.wait()
            self._changed.clear()
            if not self._looks:
                continue
            before = self._looks[0] if len(self._looks) == 2 else None
            rows = self._local.size[1]
            lines = render(self._looks[-1], before, self._box.id, self._sort).split("\n")[: rows - 1]
            lines.append(f"sort by (n)ame, (a)ge, (o)utput, (r)ate: {self._sort}   (q)uit")
            await self._local.write(("\x1b[H" + "\x1b[K\r\n".join(lines) + "\x1b[J").encode())


async def _look(box: Sandbox) -> Look:
    metrics, terminals, processes = await asyncio.gather(box.metrics(), box.terminals.list(), box.processes.list())
    return Look(time.time(), time.monotonic(), metrics, terminals, processes)


def render(look: Look, before: Look | None, sandbox: str, sort: str = "rate") -> str:
    """Return the page as text.

    Args:
        look: The sample to show.
        before: The previous sample, for computing rates; None means no rates.
        sandbox: The id of the sandbox.
        sort: The sort order: one of `SORTS`.
    """
    passed = look.clock - before.clock if before else 0.0
    metrics = look.metrics
    cpu = f"{(metrics.cpu - before.metrics.cpu) / passed:.1%}" if before and passed > 0 else "-"
    return "\n".join(
        [
            f"sandbox {sandbox}   up {duration(look.at - metrics.started)}   runtime {size(metrics.memory)}, CPU {cpu}",
            f"terminals {metrics.terminals}, viewers {metrics.viewers}, processes {metrics.processes}, "
            f"sessions {metrics.sessions}",
            "",
            f"{'TERMINAL':20} {'SIZE':>9} {'VIEWERS':>7} {'AGE':>7} {'OUTPUT':>10} {'RATE':>12}  TITLE OR DIRECTORY",
            *_lines(_terminals(look, before, passed), sort),
            "",
            f"{'PROCESS':20} {'PID':>9} {'':7} {'AGE':>7} {'OUTPUT':>10} {'RATE':>12}  COMMAND",
            *_lines(_processes(look, before, passed), sort),
        ]
    )


def _lines(rows: list[Row], sort: str) -> list[str]:
    """Return the rows, sorted by name or with the greatest age, output or rate first."""
    rows = sorted(rows, key=lambda row: row.name)
    if sort != "name":
        rows.sort(key=lambda row: float(getattr(row, sort)), reverse=True)
    return [
        f"{printable(row.name)[:20]:20} {row.cells} {duration(row.age):>7} {size(row.output):>10} "
        f"{size(int(row.rate)) + '/s':>12}  {printable(row.text)}"
        for row in rows
    ]


def _terminals(look: Look, before: Look | None, passed: float) -> list[Row]:
    offsets = {each.instance: each.offset for each in before.terminals} if before else {}
    return [
        Row(
            each.id,
            look.at - each.started,
            each.offset,
            (each.offset - offsets[each.instance]) / passed if each.instance in offsets and passed > 0 else 0.0,
            f"{f'{each.cols}x{each.rows}':>9} {each.viewers:7}",
            each.title or each.cwd,
        )
        for each in look.terminals
        if each.state == "running"
    ]


def _processes(look: Look, before: Look | None, passed: float) -> list[Row]:
    outputs = {each.instance: _printed(each) for each in before.processes} if before else {}
    return [
        Row(
            each.id,
            look.at - each.started,
            _printed(each),
            (_printed(each) - outputs[each.instance]) / passed if each.instance in outputs and passed > 0 else 0.0,
            f"{each.pid:9} {'':7}",
            shlex.join(each.argv),
        )
        for each in look.processes
        if each.state == "running"
    ]


def _printed(process: ProcessInfo) -> int:
    return process.stdout.offset + process.stderr.offset
