"""Desktops of isolated sandboxes: an agent drives Chromium like a model with a computer tool, and a recording."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from io import BytesIO
from typing import TypeVar

import psutil
import pytest
import pytest_asyncio
from PIL import Image, ImageChops

import hawse
from hawse.api.recordings import RecordingInfo
from hawse.client import Recording, Sandbox
from hawse.client.desktop import Desktop
from hawse.wire import HawseError
from tests.support.stack import Stack

pytestmark = pytest.mark.asyncio(loop_scope="module")

# The field is red, the link blue. The title shows the typed text, and the page turns green when it is submitted.
PAGE = """<!doctype html><meta charset=utf-8><title>waiting</title>
<style>body { margin: 0; background: white } input { all: unset; position: fixed; left: 100px; top: 80px; width: 300px;
height: 40px; background: #ff0000; color: #ff0000 } </style>
<form><input autocomplete=off oninput="document.title = 'typed ' + this.value"></form>
<script>onsubmit = event => { event.preventDefault(); document.body.style.background = '#00ff00' }</script>
"""
CHROMIUM = [  # not Debian's script /usr/bin/chromium, which reads files in /etc that the sandbox does not have
    *(
        "/usr/lib/chromium/chromium",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--test-type",
    ),
    *("--user-data-dir=/tmp/profile", "--password-store=basic", "--window-position=0,0", "--window-size=800,600"),
]
RED, GREEN = (255, 0, 0), (0, 255, 0)
T = TypeVar("T")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("desktop") / "state", isolation="bubblewrap") as stack:
        yield stack


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def box(stack: Stack) -> AsyncIterator[Sandbox]:
    async with hawse.connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


async def until(look: Callable[[], Awaitable[T | None]]) -> T:
    """Poll until there is a result: a desktop has no event for drawing."""
    async with asyncio.timeout(60):
        while (found := await look()) is None:  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return found


async def find(desktop: Desktop, colour: tuple[int, int, int]) -> tuple[int, int] | None:
    """Return the centre of the pixels with a colour."""
    image = Image.open(BytesIO((await desktop.screenshot()).data)).convert("RGB")
    red, green, blue = ImageChops.difference(image, Image.new("RGB", image.size, colour)).split()
    place = ImageChops.invert(ImageChops.lighter(ImageChops.lighter(red, green), blue)).point(_exactly).getbbox()
    return None if place is None else ((place[0] + place[2]) // 2, (place[1] + place[3]) // 2)


async def find_steady(desktop: Desktop, colour: tuple[int, int, int]) -> tuple[int, int] | None:
    """Like `find`, once it stops moving: the window manager moves a window after it appears."""
    before = await find(desktop, colour)
    await asyncio.sleep(0.2)
    return before if before == await find(desktop, colour) else None


def _exactly(value: int) -> int:
    return 255 if value == 255 else 0


async def test_an_agent_finds_a_field_of_a_page_clicks_and_types_into_it(box: Sandbox) -> None:
    await box.files.write("page.html", PAGE.encode())
    desktop = box.desktop
    started = await desktop.start(width=800, height=600)
    assert started.created
    await desktop.launch([*CHROMIUM, "--app=file:///workspace/page.html"])
    titles: list[str] = []

    async def typed() -> bool | None:
        """Look, click, type and check, like an agent: a starting browser takes the keyboard focus when it is ready."""
        x, y = await until(lambda: find_steady(desktop, RED))
        await desktop.click(x, y)
        await desktop.key("ctrl+a")
        await desktop.type("Grüße 世界")
        for _ in range(100):
            titles[:] = [window.title for window in await desktop.windows()]
            if "typed Grüße 世界" in titles:
                return True
            await asyncio.sleep(0.05)
        return None

    try:
        await until(typed)
    except TimeoutError:
        pytest.fail(f"the titles are {titles}")
    await desktop.key("enter")
    await until(lambda: find(desktop, GREEN))
    await desktop.key("ctrl+a")
    await desktop.key("ctrl+c")

    async def copied() -> str | None:
        return await desktop.clipboard() or None

    assert await until(copied) == "Grüße 世界"
    await desktop.stop()
    assert await desktop.list() == []
    left = (await box.exec("cat /proc/[0-9]*/stat 2>/dev/null | grep -v ') [ZX] '")).stdout.decode()
    assert not [name for name in ("Xvnc", "openbox", "chromium") if name in left]


async def test_a_recording_survives_a_kill_of_the_runtime(stack: Stack) -> None:
    async with hawse.connect(stack.base, token=stack.token) as hw, hw.sandboxes.create("killed") as box:
        await box.desktop.start(width=320, height=200)
        recording = await box.desktop.record()
        await box.desktop.move(100, 100)

        async def shown() -> int | None:
            size = (await recording.info()).size
            return size if size > 1000 else None

        size = await until(shown)
        for process in stack.runtimes():
            with suppress(psutil.NoSuchProcess):
                process.kill()
        info = await until(lambda: _finished(recording))
        assert (info.reason, info.desktop, info.truncated) == ("killed", "main", True)
        assert info.size >= size
        cast = await recording.read()
        assert len(cast) == info.size
        for line in cast.splitlines():
            json.loads(line)
        await recording.delete()
        assert await box.recordings.list() == []


async def _finished(recording: Recording) -> RecordingInfo | None:
    """Return a recording once it has ended. Calls are interrupted while the runtime restarts."""
    try:
        info = await recording.info()
    except HawseError:
        return None
    return info if info.state == "finished" else None
