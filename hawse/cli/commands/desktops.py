"""`hawse desktop`: start, view and control a desktop."""

from pathlib import Path
from typing import Final, get_args

import click

from hawse.api.desktops import DESKTOP, DesktopInfo, DesktopWindow, ImageFormat, MouseButton
from hawse.api.recordings import RecordingInfo
from hawse.cli.group import Group
from hawse.cli.output import examples, print_json, print_table
from hawse.cli.target import Target
from hawse.cli.target_options import target_options
from hawse.client import Client, Sandbox
from hawse.client.desktop import Screenshot

PIXEL: Final = click.IntRange(0, 4095)
SIDE: Final = click.IntRange(64, 4096)
named = click.option("--id", "name", default=DESKTOP, show_default=True, help="the desktop")
FORMATS: Final = {".jpg": "jpeg", **{f".{name}": name for name in get_args(ImageFormat)}}


@click.group(cls=Group)
def desktop() -> None:
    """Start, view and control a graphical desktop."""


@desktop.command(epilog=examples("hawse desktop start --width 1920 --height 1080"))
@click.option("--width", type=SIDE, default=1280, show_default=True)
@click.option("--height", type=SIDE, default=800, show_default=True)
@named
@target_options
def start(target: Target, width: int, height: int, name: str) -> None:
    """Start a desktop and print its DISPLAY and XAUTHORITY, for programs in the sandbox."""

    async def work(client: Client, box: Sandbox) -> DesktopInfo:
        return await box.desktop.named(name).start(width=width, height=height)

    target.print_result(work, lambda info: f"DISPLAY={info.display} XAUTHORITY={info.xauthority}")


@desktop.command(epilog=examples("hawse desktop stop"))
@named
@target_options
def stop(target: Target, name: str) -> None:
    """End a desktop and all programs started on it."""

    async def work(client: Client, box: Sandbox) -> None:
        await box.desktop.named(name).stop()

    target.run(work)


@desktop.command("ls", epilog=examples("hawse desktop ls -s build"))
@target_options
def list_desktops(target: Target) -> None:
    """List the running desktops."""

    async def work(client: Client, box: Sandbox) -> list[DesktopInfo]:
        return await box.desktop.list()

    found = target.run(work)
    if target.as_json:
        print_json(found)
    else:
        rows = [[each.id, f"{each.width}x{each.height}", each.viewers, each.display] for each in found]
        print_table(["ID", "SIZE", "VIEWERS", "DISPLAY"], rows)


@desktop.command(epilog=examples("hawse desktop record --title demo", "hawse desktop record --stop"))
@click.option("--title", help="the recording's title")
@click.option("--stop", "stopping", is_flag=True, help="stop all recordings of the desktop")
@named
@target_options
def record(target: Target, name: str, title: str | None, stopping: bool) -> None:
    """Start recording a desktop, and print the recording's id. The web page can play it."""

    async def begin(client: Client, box: Sandbox) -> list[RecordingInfo]:
        recording = await box.desktop.named(name).record(title=title)
        return [await recording.info()]

    async def end(client: Client, box: Sandbox) -> list[RecordingInfo]:
        found = [each for each in await box.recordings.list() if each.desktop == name and each.state == "recording"]
        return [await box.recordings.attach(each.id).stop() for each in found]

    found = target.run(end if stopping else begin)
    if target.as_json:
        print_json(found)
        return
    for each in found:
        click.echo(each.id)


@desktop.command(epilog=examples("hawse desktop screenshot screen.png"))
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@named
@target_options
def screenshot(target: Target, file: Path, name: str) -> None:
    """Save a screenshot of a desktop to FILE, whose name must end with .png, .jpg or .webp."""
    format = FORMATS.get(file.suffix.lower())
    if format is None:
        raise click.UsageError(f"{file}: the name must end with one of {', '.join(FORMATS)}")

    async def work(client: Client, box: Sandbox) -> Screenshot:
        return await box.desktop.named(name).screenshot(format=format)

    file.write_bytes(target.run(work).data)


@desktop.command("click", epilog=examples("hawse desktop click 640 400", "hawse desktop click 640 400 --button right"))
@click.argument("x", type=PIXEL)
@click.argument("y", type=PIXEL)
@click.option("--button", type=click.Choice(get_args(MouseButton)), default="left", show_default=True)
@click.option("--count", type=click.IntRange(1, 3), default=1, help="2: a double click")
@named
@target_options
def click_at(target: Target, x: int, y: int, button: MouseButton, count: int, name: str) -> None:
    """Click at the pixel (X, Y)."""

    async def work(client: Client, box: Sandbox) -> None:
        await box.desktop.named(name).click(x, y, button=button, count=count)

    target.run(work)


@desktop.command("type", epilog=examples("hawse desktop type 'some text'"))
@click.argument("text")
@named
@target_options
def type_text(target: Target, text: str, name: str) -> None:
    """Type TEXT into the active window."""

    async def work(client: Client, box: Sandbox) -> None:
        await box.desktop.named(name).type(text)

    target.run(work)


@desktop.command(
    epilog=examples(
        "hawse desktop key ctrl+shift+t",
    )
)
@click.argument("keys")
@named
@target_options
def key(target: Target, keys: str, name: str) -> None:
    """Press keys together, such as ctrl+shift+t."""

    async def work(client: Client, box: Sandbox) -> None:
        await box.desktop.named(name).key(keys)

    target.run(work)


@desktop.command(epilog=examples("hawse desktop windows"))
@named
@target_options
def windows(target: Target, name: str) -> None:
    """List the program windows, in stacking order from bottom to top."""

    async def work(client: Client, box: Sandbox) -> list[DesktopWindow]:
        return await box.desktop.named(name).windows()

    found = target.run(work)
    if target.as_json:
        print_json(found)
    else:
        rows = [[each.name, each.title, f"{each.width}x{each.height}+{each.x}+{each.y}", each.pid] for each in found]
        print_table(["PROGRAM", "TITLE", "PLACE", "PID"], rows)


@desktop.command(epilog=examples("hawse desktop launch chromium https://example.com"))
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@named
@target_options
def launch(target: Target, command: tuple[str, ...], name: str) -> None:
    """Start a program on a desktop and print the id of its process."""

    async def work(client: Client, box: Sandbox) -> str:
        return (await box.desktop.named(name).launch(command)).id

    target.print_result(work, str)
