"""`hawse ps`, `hawse kill` and `hawse logs`: work with a sandbox's processes."""

import asyncio
import codecs
import shlex
import sys
import time

import click

from hawse.api.processes import ProcessInfo
from hawse.api.types import StreamName
from hawse.cli.candidates import offer, processes
from hawse.cli.commands.shell import exit_code
from hawse.cli.each import report
from hawse.cli.output import duration, examples, print_json, size, write_bytes
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox
from hawse.wire import HawseError

GRACE = 5.0  # seconds to wait after the first signal before sending SIGKILL


@click.command(epilog=examples("hawse ps", "hawse ps --all --json"))
@click.option("-a", "--all", "with_ended", is_flag=True, help="include the latest ended processes")
@target_options
def ps(target: Target, with_ended: bool) -> None:
    """List the processes started by clients, including `hawse exec` commands, each with the size of its output."""

    async def work(client: Client, box: Sandbox) -> list[ProcessInfo]:
        return [info for info in await box.processes.list() if with_ended or info.state == "running"]

    target.print_list(work, ["ID", "PID", "STATE", "AGE", "OUTPUT", "COMMAND"], _row)


def _row(info: ProcessInfo) -> list[object]:
    return [
        info.id,
        info.pid,
        info.state if info.exit is None else f"exited {exit_code(info.exit)}",
        duration(time.time() - info.started),
        size(info.stdout.offset + info.stderr.offset),
        shlex.join(info.argv),
    ]


@click.command(
    epilog=examples(
        "hawse kill web",
        "hawse kill --terminal main",
    )
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=offer(processes))
@click.option("-t", "--terminal", is_flag=True, help="treat the IDs as ids of terminals")
@click.option("--grace", type=click.FloatRange(min=0), default=GRACE, show_default=True, help="seconds until SIGKILL")
@target_options
def kill(target: Target, ids: tuple[str, ...], terminal: bool, grace: float) -> int:
    """End processes or terminals along with all programs they have started, and wait until all of them have ended."""

    async def work(client: Client, box: Sandbox) -> list[tuple[str, HawseError | None]]:
        method = "terminal.kill" if terminal else "process.kill"

        async def end(id: str) -> HawseError | None:
            try:
                await box.call(method, {"id": id, "grace": grace})
            except HawseError as error:
                return error
            return None

        return list(zip(ids, await asyncio.gather(*map(end, ids)), strict=True))

    ended = target.run(work)
    if target.as_json:
        print_json([{"id": id, "error": None if error is None else error.code} for id, error in ended])
    for id, error in ended:
        if error is not None:
            report(id, error)
    return 1 if any(error for _, error in ended) else 0


@click.command(
    epilog=examples(
        "hawse logs web",
        "hawse logs -f web",
    )
)
@click.argument("id", shell_complete=offer(processes))
@click.option("-f", "--follow", is_flag=True, help="follow until the process ends, and return its exit code")
@target_options
def logs(target: Target, id: str, follow: bool) -> int:
    """Print the output of the process ID, as far as it is still kept, to standard output and standard error."""

    async def work(client: Client, box: Sandbox) -> int:
        info = await box.processes.get(id)
        missing = 0 if follow else _kept(info)
        if not follow and missing == 0:
            return 0
        process = await box.processes.attach(id, instance=info.instance)
        output = _JsonOutput() if target.as_json else _Output()
        async for stream, data in process.output():
            output.add(stream, data)
            missing -= len(data)
            if not follow and missing <= 0:
                break
        output.end()
        return exit_code(await process.wait()) if follow or missing > 0 else 0

    return target.run(work)


class _Output:
    """Prints output unchanged."""

    def add(self, stream: StreamName, data: bytes) -> None:
        """Print bytes from a stream."""
        write_bytes(data, sys.stdout if stream == "stdout" else sys.stderr)

    def end(self) -> None:
        """Record that the output is complete."""


class _JsonOutput(_Output):
    """Prints output as JSON. A character can be split across two parts of a stream."""

    def __init__(self) -> None:
        decoder = codecs.getincrementaldecoder("utf-8")
        self._decoders: dict[StreamName, codecs.IncrementalDecoder] = {
            "stdout": decoder("replace"),
            "stderr": decoder("replace"),
        }

    def add(self, stream: StreamName, data: bytes) -> None:
        self._print(stream, self._decoders[stream].decode(data))

    def end(self) -> None:
        for stream, decoder in self._decoders.items():
            self._print(stream, decoder.decode(b"", final=True))

    def _print(self, stream: StreamName, text: str) -> None:
        if text:
            print_json({"stream": stream, "data": text})


def _kept(info: ProcessInfo) -> int:
    """The range of output bytes that can currently be read."""
    return sum(kept.offset - kept.start for kept in (info.stdout, info.stderr))
