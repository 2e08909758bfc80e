"""`hawse record`, `hawse play` and `hawse recordings`: create, play and list recordings. Terminal recordings are
asciicast v3 files.
"""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import click

from hawse.api.recordings import RecordingInfo
from hawse.cli.candidates import offer, recordings as recorded, terminals
from hawse.cli.confirm import confirm, yes_option
from hawse.cli.local_terminal.terminal import RESET
from hawse.cli.output import duration, examples, is_terminal, listed, print_json, size, write_bytes
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Recording, Sandbox
from hawse.client.signals import run

IDLE_LIMIT: Final = 2.0  # maximum length of a pause during playback, in seconds
LINE_MAX: Final = 16 << 20  # maximum size of an event in a recording, in bytes


class CastEvent(NamedTuple):
    """One event of a recording: the seconds since the previous event, the event's kind, and its text."""

    delay: float
    kind: str
    text: str


@click.command(epilog=examples("hawse recordings", "hawse recordings --delete r-3f9c"))
@click.option(
    "--delete",
    "ids",
    multiple=True,
    metavar="ID",
    shell_complete=offer(recorded),
    help="delete this recording instead; repeatable",
)
@yes_option
@target_options
def recordings(target: Target, ids: tuple[str, ...], yes: bool) -> None:
    """List a sandbox's recordings, newest first."""

    async def found(client: Client, box: Sandbox) -> list[RecordingInfo]:
        return await box.recordings.list()

    async def delete(client: Client, box: Sandbox) -> None:
        for one in ids:
            await box.recordings.attach(one).delete()

    if ids:
        confirm(f"Delete {listed(ids)}?", yes=yes)
        target.run(delete)
    else:
        target.print_list(found, ["ID", "OF", "STATE", "LENGTH", "SIZE", "MARKERS", "TITLE"], _row)


def _row(each: RecordingInfo) -> list[object]:
    of = each.terminal if each.desktop is None else f"desktop {each.desktop}"
    return [each.id, of, each.state, duration(each.duration), size(each.size), each.markers, each.title]


@click.command(epilog=examples("hawse record main --title demo", "hawse record main --stop"))
@click.argument("terminal", shell_complete=offer(terminals))
@click.option("--title", help="the recording's title")
@click.option("--input", "with_input", is_flag=True, help="record input as well, including passwords")
@click.option("--stop", is_flag=True, help="stop all recordings of the terminal")
@target_options
def record(target: Target, terminal: str, title: str | None, with_input: bool, stop: bool) -> None:
    """Start recording TERMINAL, and print the id of the recording."""

    async def begin(client: Client, box: Sandbox) -> list[RecordingInfo]:
        async with box.terminals.attach(terminal, read_only=True) as attached:
            recording = await attached.record(title=title, input=with_input)
            return [await recording.info()]

    async def end(client: Client, box: Sandbox) -> list[RecordingInfo]:
        running = [each for each in await box.recordings.list(terminal=terminal) if each.state == "recording"]
        return [await box.recordings.attach(each.id).stop() for each in running]

    found = target.run(end if stop else begin)
    if target.as_json:
        print_json(found)
        return
    for each in found:
        click.echo(each.id)


@click.command(
    epilog=examples(
        "hawse play --speed 4 --idle-limit 1 rec-1",
    )
)
@click.argument("recording", shell_complete=offer(recorded))
@click.option("--speed", type=click.FloatRange(min=0.01), default=1.0, show_default=True, help="how fast")
@click.option(
    "--idle-limit",
    type=click.FloatRange(min=0),
    default=IDLE_LIMIT,
    show_default=True,
    metavar="SECONDS",
    help="shorten longer pauses to this",
)
@click.option("--output", type=click.Path(dir_okay=False, path_type=Path), help="save the asciicast instead")
@target_options
def play(target: Target, recording: str, speed: float, idle_limit: float, output: Path | None) -> None:
    """Play the recording with the id RECORDING, or an asciicast file, in this terminal until its end or Ctrl-C."""

    async def work(client: Client, box: Sandbox) -> None:
        remote = box.recordings.attach(recording)
        lines = _remote_lines(remote)
        if output is None:
            if (await remote.info()).desktop is not None:
                raise click.ClickException(f"{recording} is a recording of a desktop: play it in the page")
            await _play(lines, speed, idle_limit)
            return
        with output.open("wb") as file:
            async for line in lines:
                await asyncio.to_thread(file.write, line + b"\n")

    if "/" in recording and not Path(recording).is_file():
        raise click.ClickException(f"{recording}: no such file, and a recording's id contains no slash")
    try:
        if output is None and Path(recording).is_file():
            run(_play(_local_lines(Path(recording)), speed, idle_limit))
        else:
            target.run(work)
    except ValueError as error:
        raise click.ClickException(f"this is not an asciicast v3 or v2: {error}") from error


async def events(lines: AsyncIterator[bytes]) -> AsyncIterator[CastEvent]:
    """Parse an asciicast (v2 or v3). A truncated last line is treated as the end.

    Args:
        lines: The lines, without their line feeds.

    Raises:
        ValueError: A line does not follow the format.
    """
    version, before = 0, 0.0
    async for line in lines:
        if not line.strip() or line.startswith(b"#"):
            continue
        try:
            value: Any = json.loads(line)
        except ValueError:
            if version:
                return
            raise
        if not version:
            version = _version(value)
            continue
        if not (isinstance(value, list) and len(value) == 3 and isinstance(value[0], (int, float))):
            raise ValueError(f"an event is not [time, kind, text]: {str(value)[:80]}")
        delay = float(value[0]) - (before if version == 2 else 0.0)
        before = float(value[0])
        yield CastEvent(max(0.0, delay), str(value[1]), str(value[2]))


async def _play(lines: AsyncIterator[bytes], speed: float, idle_limit: float) -> None:
    begin, position = time.monotonic(), 0.0
    try:
        async for event in events(lines):
            position += min(event.delay, idle_limit) / speed
            await asyncio.sleep(max(0.0, begin + position - time.monotonic()))
            if event.kind == "o":
                await asyncio.to_thread(write_bytes, event.text.encode(errors="replace"))
    finally:
        if is_terminal(sys.stdout):
            write_bytes(RESET + b"\r\n")


def _version(header: Any) -> int:
    version = header.get("version") if isinstance(header, dict) else None
    if version not in (2, 3):
        raise ValueError(f"the version is {version!r}")
    return int(version)


async def _remote_lines(recording: Recording) -> AsyncIterator[bytes]:
    rest = b""
    async with recording.open_read() as file:
        async for chunk in file:
            *lines, rest = (rest + bytes(chunk)).split(b"\n")
            if len(rest) > LINE_MAX:
                raise ValueError(f"a line has more than {LINE_MAX} bytes")
            for line in lines:
                yield line
    if rest:
        yield rest


async def _local_lines(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while line := await asyncio.to_thread(file.readline, LINE_MAX):
            yield line.rstrip(b"\n")
