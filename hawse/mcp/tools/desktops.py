"""`desktop_*`: view and control graphical programs. The desktop is started on first use."""

from typing import Annotated, Final

from msgspec import Meta

from hawse.api.desktops import KeyNames, MouseButton, Position, Steps, TypedText
from hawse.client import Sandbox
from hawse.client.desktop import Desktop
from hawse.mcp.tool import Answer, Arguments, Image, ToolCall, tool
from hawse.plain.excerpt import excerpt

IMAGE_MAX: Final = 8 << 20  # maximum size of an image, in bytes
Clicks = Annotated[int, Meta(ge=1, le=3)]
CommandLine = Annotated[str, Meta(min_length=1, max_length=10_000)]


async def _offered(box: Sandbox) -> bool:
    return await box.desktop.unavailable() is None


async def _desktop(call: ToolCall) -> Desktop:
    """Return the desktop `main`, starting it unless it is running."""
    desktop = call.box.desktop
    if not any(found.id == desktop.id for found in await desktop.list()):
        await desktop.start()
    return desktop


@tool("desktop_screenshot", destructive=False, idempotent=True, offered=_offered)
class DesktopScreenshotTool(Arguments):
    """Take a screenshot of the desktop, including the mouse pointer, and list its windows.

    The other desktop tools take positions as pixels in this image.
    """

    async def run(self, call: ToolCall) -> Answer:
        desktop = await _desktop(call)
        image = await desktop.screenshot()
        windows = await desktop.windows()
        lines = [f"{image.width} × {image.height} pixels"]
        lines += [
            f"window {each.name!r} {each.title!r} at {each.x},{each.y}, {each.width} × {each.height}"
            f"{', active' if each.active else ''}{', minimized' if each.minimized else ''}"
            for each in windows
        ]
        shown = (Image(image.data, "image/png"),) if len(image.data) <= IMAGE_MAX else ()
        if not shown:
            lines.append(f"[the image of {len(image.data):,} bytes is too large to be shown]")
        return Answer(
            excerpt("\n".join(lines), call.limit), images=shown, data={"width": image.width, "height": image.height}
        )


@tool("desktop_launch", offered=_offered)
class DesktopLaunchTool(Arguments):
    """Start a program with a window on the desktop, without waiting for it.

    Args:
        command: A command line, such as `chromium https://example.com`.
    """

    command: CommandLine

    async def run(self, call: ToolCall) -> Answer:
        process = await (await _desktop(call)).launch(self.command)
        return Answer(f"started as process {process.id}", data={"process": process.id})


@tool("desktop_click", offered=_offered)
class DesktopClickTool(Arguments):
    """Click on the desktop.

    Args:
        x: Pixels from the left edge.
        y: Pixels from the top edge.
        button: The mouse button.
        count: Number of clicks; 2 is a double click.
        hold: Keys to hold down during the click, such as `ctrl`.
    """

    x: Position
    y: Position
    button: MouseButton = "left"
    count: Clicks = 1
    hold: Annotated[str, Meta(max_length=100)] = ""

    async def run(self, call: ToolCall) -> Answer:
        desktop = await _desktop(call)
        await desktop.click(self.x, self.y, button=self.button, count=self.count, hold=self.hold)
        return Answer(f"clicked at {self.x},{self.y}")


@tool("desktop_type", offered=_offered)
class DesktopTypeTool(Arguments):
    """Type text into the active window of the desktop. A line feed presses Return.

    Args:
        text: The text.
    """

    text: TypedText

    async def run(self, call: ToolCall) -> Answer:
        await (await _desktop(call)).type(self.text)
        return Answer(f"typed {len(self.text)} characters")


@tool("desktop_key", offered=_offered)
class DesktopKeyTool(Arguments):
    """Press a key on the desktop, or several at once, such as `Return`, `ctrl+l` or `alt+F4`.

    Args:
        keys: Their names, joined by `+`.
    """

    keys: KeyNames

    async def run(self, call: ToolCall) -> Answer:
        await (await _desktop(call)).key(self.keys)
        return Answer(f"pressed {self.keys}")


@tool("desktop_scroll", offered=_offered)
class DesktopScrollTool(Arguments):
    """Turn the mouse wheel at a position on the desktop.

    Args:
        x: Pixels from the left edge.
        y: Pixels from the top edge.
        dy: Steps down, or up if negative.
        dx: Steps to the right, or to the left if negative.
    """

    x: Position
    y: Position
    dy: Steps = 0
    dx: Steps = 0

    async def run(self, call: ToolCall) -> Answer:
        await (await _desktop(call)).scroll(self.x, self.y, dx=self.dx, dy=self.dy)
        return Answer(f"scrolled by {self.dx},{self.dy}")
