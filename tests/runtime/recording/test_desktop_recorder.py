"""A recording of a desktop reproduces its screen from any position where a player can start."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from PIL import Image

from hawse_runtime.core.folder import Folder
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.recording.cast_writer import CastWriter
from hawse_runtime.recording.desktop_recorder import DesktopRecorder
from tests.support.principals import AT_MAIN
from tests.support.rectangles import rectangles
from tests.support.runtime import Client, Served, named
from tests.support.waiting import TIMEOUT

WIDTH, HEIGHT = 320, 200


@pytest.fixture
async def desktop(client: Client) -> Client:
    await client.ask("desktop.start", width=WIDTH, height=HEIGHT)
    return client


async def read(client: Client, name: str, part: str = "cast") -> bytes:
    channel = client.call("recording.read", {"id": name, "part": part})
    await channel.result()
    return bytes(channel.output)


def played(cast: bytes, size: tuple[int, int]) -> Image.Image:
    """Return the screen at the end of events."""
    screen = Image.new("RGB", size)
    for line in cast.splitlines():
        match json.loads(line):
            case [_, "r", str(text)]:
                width, _, height = text.partition("x")
                screen = Image.new("RGB", (int(width), int(height)))
            case [_, "o", str(text)] if text:
                for rect, rgb in rectangles(text):
                    screen.paste(Image.frombytes("RGB", (rect.width, rect.height), rgb), (rect.x, rect.y))
    return screen


async def screenshot(client: Client) -> Image.Image:
    call = client.call("desktop.screenshot", {})
    await call.result()
    return Image.open(BytesIO(bytes(call.output))).convert("RGB")


async def until_recorded(client: Client, name: str) -> Image.Image:
    """Wait until a recording ends with what the screen shows now, and return that."""
    async with asyncio.timeout(TIMEOUT):
        while True:
            now = await screenshot(client)
            recorded = played((await read(client, name)).partition(b"\n")[2], (WIDTH, HEIGHT))
            if recorded.size == now.size and recorded.tobytes() == now.tobytes():
                return now
            await asyncio.sleep(0.05)  # there is no event for a frame that is on the disk


async def test_a_recording_shows_what_the_screen_showed(desktop: Client) -> None:
    started = await desktop.ask("recording.start", desktop="main", title="A demo")
    assert (started["desktop"], started["terminal"], started["title"]) == ("main", "", "A demo")
    assert (started["cols"], started["rows"], started["state"]) == (WIDTH, HEIGHT, "recording")
    name = started["id"]
    before = await until_recorded(desktop, name)
    await desktop.ask("desktop.launch", argv=["xterm", "-geometry", "20x5+40+40", "-bg", "white"])

    async with asyncio.timeout(TIMEOUT):
        while (await until_recorded(desktop, name)).tobytes() == before.tobytes():  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    await desktop.ask("recording.mark", id=name, label="half-way")
    await desktop.ask("desktop.resize", width=400, height=300)
    resized = await until_recorded(desktop, name)
    assert resized.size == (400, 300)
    ended = await desktop.ask("recording.stop", id=name)
    assert (ended["state"], ended["reason"], ended["truncated"], ended["markers"]) == ("finished", "stopped", False, 1)
    cast = await read(desktop, name)
    assert len(cast) == ended["size"]
    assert json.loads(cast.splitlines()[0])["term"] == {"cols": WIDTH, "rows": HEIGHT, "type": "hawse-desktop"}
    index = [json.loads(line) for line in (await read(desktop, name, "index")).splitlines()]
    starts = [entry for entry in index if "at" in entry]
    assert starts[0]["t"] <= ended["duration"]
    assert len(starts) >= 2, "the whole screen is recorded again after the size has changed"
    assert [entry["label"] for entry in index if "label" in entry] == ["half-way"]
    last = starts[-1]
    assert (last["cols"], last["rows"], last["size"]) == (400, 300, 0)
    assert played(cast[last["at"] :], (400, 300)).tobytes() == resized.tobytes()


async def test_it_is_listed_and_deleted_with_the_others(desktop: Client) -> None:
    name = (await desktop.ask("recording.start", desktop="main"))["id"]
    assert [info["id"] for info in (await desktop.ask("recording.list"))["recordings"]] == [name]
    at_terminal = await desktop.call("recording.list", principal=AT_MAIN).result()
    assert at_terminal["recordings"] == [], "a link to a terminal does not show the desktop"
    assert (await desktop.call("recording.get", {"id": name}, principal=AT_MAIN).refusal()).code == "not_found"
    await desktop.ask("recording.delete", id=name)
    assert (await desktop.ask("recording.list"))["recordings"] == []
    assert (await desktop.refused("recording.get", id=name)).code == "not_found"


async def test_what_cannot_be_recorded_is_refused(desktop: Client) -> None:
    assert (await desktop.refused("recording.start", desktop="other")).code == "not_found"
    assert (await desktop.refused("recording.start", desktop="main", terminal="t")).code == "invalid_params"
    assert (await desktop.refused("recording.start")).code == "invalid_params"
    assert (await desktop.refused("recording.start", desktop="main", input=True)).code == "invalid_params"
    assert (await desktop.ask("recording.list"))["recordings"] == []


@pytest.mark.parametrize("how", ["stop", "kill"])
async def test_it_ends_with_the_desktop(desktop: Client, how: str) -> None:
    name = (await desktop.ask("recording.start", desktop="main"))["id"]
    await until_recorded(desktop, name)
    if how == "stop":
        await desktop.ask("desktop.stop")
    else:
        (server,) = named("Xvnc", psutil.Process().children(recursive=True))
        server.kill()
    async with asyncio.timeout(TIMEOUT):
        while (info := await desktop.ask("recording.get", id=name))["state"] == "recording":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert info["reason"] == "exited"


@pytest.fixture
async def tasks() -> AsyncIterator[Tasks]:
    async with asyncio.TaskGroup() as group:
        yield Tasks(group)


def header(width: int, height: int) -> bytes:
    return b"{}\n"


Make = Callable[..., DesktopRecorder]


@pytest.fixture
async def make(desktop: Client, served: Served, tasks: Tasks, tmp_path: Path) -> Make:
    """Creates recorders with custom limits."""

    def make_recorder(*, limit: int = 1 << 30, **options: Any) -> DesktopRecorder:
        file = CastWriter(Folder(tmp_path / "recordings"), "r", limit=limit, reserve=lambda size: True)
        running = served.runtime.desktops.registry.get("main")
        pools = ThreadPool("disk", 1), ThreadPool("image", 1)
        return DesktopRecorder(running, file, header, *pools, tasks, **options)

    return make_recorder


async def test_the_time_is_bounded(make: Make) -> None:
    recorder = make(longest=0.01)
    await recorder.run()
    assert recorder.reason == "quota"
    assert "at most" in recorder.message


async def test_the_bytes_are_bounded(make: Make, tmp_path: Path) -> None:
    recorder = make(limit=1000)
    await recorder.run()
    assert recorder.reason == "quota"
    assert (tmp_path / "recordings/r.cast").stat().st_size <= 1000


async def test_a_screen_that_changes_too_fast_costs_frames(make: Make, desktop: Client, tmp_path: Path) -> None:
    recorder = make(limit=1 << 20, longest=1e9)  # whatever the first frame has, the next one is due after an hour
    async with asyncio.TaskGroup() as group:
        group.create_task(recorder.run())
        async with asyncio.timeout(TIMEOUT):
            while not recorder.incomplete:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        first = recorder.file.size
        for x in range(0, WIDTH, 20):
            await desktop.ask("desktop.move", x=x, y=50)
            shown = await screenshot(desktop)
        assert recorder.file.size == first
        recorder.stop()
    assert (recorder.reason, recorder.file.keyframes) == ("stopped", 2)
    assert "frames are missing" in recorder.message
    cast = (tmp_path / "recordings/r.cast").read_bytes().partition(b"\n")[2]
    assert played(cast, (WIDTH, HEIGHT)).tobytes() == shown.tobytes()


async def test_a_player_can_begin_again_and_again(make: Make, desktop: Client) -> None:
    recorder = make(every=1)
    async with asyncio.TaskGroup() as group:
        group.create_task(recorder.run())
        async with asyncio.timeout(TIMEOUT):
            while recorder.file.keyframes < 3:
                await desktop.ask("desktop.move", x=recorder.file.sizes["cast"] % WIDTH, y=50)
                await asyncio.sleep(0.02)
        recorder.stop()
    assert recorder.reason == "stopped"


async def test_it_ends_with_what_the_screen_shows_when_it_is_stopped(desktop: Client) -> None:
    name = (await desktop.ask("recording.start", desktop="main"))["id"]
    await until_recorded(desktop, name)
    for x in (10, 60, 110):  # after the first of these frames, the next one is not due yet
        await desktop.ask("desktop.move", x=x, y=50)
        now = await screenshot(desktop)
    ended = await desktop.ask("recording.stop", id=name)
    cast = await read(desktop, name)
    assert played(cast.partition(b"\n")[2], (WIDTH, HEIGHT)).tobytes() == now.tobytes()
    assert ended["size"] == len(cast)


async def test_a_disk_that_fails_ends_only_the_recording(make: Make, desktop: Client, tmp_path: Path) -> None:
    (tmp_path / "recordings").write_text("not a directory")
    recorder = make()
    await recorder.run()
    assert recorder.reason == "io_error"
    assert isinstance(recorder.opened.exception(), OSError)
    assert (await desktop.ask("desktop.list"))["desktops"][0]["id"] == "main"
