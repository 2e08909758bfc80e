"""A desktop through the client, asynchronous and synchronous: see, drive, and a viewer's connection."""

from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from hawse.client import Sandbox
from hawse.wire import HawseError
from tests.support.stack import Stack
from tests.support.sync_bridge import Connect

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stack]:
    async with Stack(tmp_path_factory.mktemp("desktop") / "state") as stack:
        yield stack


@pytest_asyncio.fixture(loop_scope="module")
async def box(stack: Stack, connect: Connect) -> AsyncIterator[Sandbox]:
    async with connect(stack.base, token=stack.token) as hw:
        yield hw.sandbox()


async def test_a_desktop_is_seen_and_driven(box: Sandbox) -> None:
    desktop = box.desktop.named("driven")
    with pytest.raises(HawseError, match="does not exist"):
        await desktop.click(1, 1)
    started = await desktop.start(width=320, height=200, dpi=100)
    assert (started.created, started.width, started.height, started.dpi) == (True, 320, 200, 100)
    await desktop.move(1, 1)
    await desktop.click(5, 5, button="right", count=2, hold="ctrl")
    await desktop.drag([(1, 1), (20, 20)])
    await desktop.scroll(5, 5, dy=1)
    await desktop.type("text")
    await desktop.key("ctrl+a", count=2)
    assert await desktop.clipboard("copied") == "copied"
    assert await desktop.clipboard() == "copied"
    image = await desktop.screenshot()
    assert (image.format, image.width, image.height) == ("png", 320, 200)
    assert image.data.startswith(b"\x89PNG")
    assert (await desktop.screenshot(format="webp", region=(10, 10, 20, 30))).height == 30
    resized = await desktop.resize(400, 300)
    assert (resized.width, resized.height) == (400, 300)
    assert await desktop.windows() == []
    assert (await desktop.launch(["sleep", "1000"])).state == "running"
    assert (await desktop.lease("free")).mode == "free"
    assert [found.id for found in await desktop.list()] == ["driven"]
    assert await desktop.unavailable() is None
    recording = await desktop.record(title="A demo")
    info = await recording.stop()
    assert (info.desktop, info.title, info.cols, info.rows) == ("driven", "A demo", 400, 300)
    await recording.delete()
    await desktop.stop()
    assert await desktop.list() == []


async def test_a_viewer_gets_the_bytes_of_an_rfb_connection(box: Sandbox) -> None:
    desktop = box.desktop
    await desktop.start(width=64, height=64)
    async with desktop.connect(read_only=True) as stream:
        assert stream.info.read_only
        assert (await stream.read()).startswith(b"RFB 003.008\n")
        await stream.write(b"RFB 003.008\n\x01\x01")
        received = b""
        while b"main" not in received:  # the name, at the end of the handshake
            received += await stream.read()
        await desktop.stop()
        while await stream.read():
            pass


async def test_a_message_that_is_not_allowed_ends_the_viewer(box: Sandbox) -> None:
    await box.desktop.start(width=64, height=64)
    async with box.desktop.connect() as stream:
        await stream.write(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises(HawseError, match="version"):
            while await stream.read():
                pass
    await box.desktop.stop()
