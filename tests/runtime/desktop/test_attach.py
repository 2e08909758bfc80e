"""Viewers of a desktop: what they see and send, also hostile ones, and those that do not read."""

import struct
from typing import Any

import pytest

from hawse.wire import Principal
from hawse_runtime.desktop import rfb
from hawse_runtime.desktop.methods import VIEWERS_LIMIT
from hawse_runtime.desktop.rfb import Rect
from tests.support.runtime import Channel, Client, Served

from .conftest import XTERM, until

VIEWER = Principal(id="v", name="v", kind="user", rights=("view",))
WRITER = Principal(id="w", name="w", kind="user", rights=("write",))
HANDSHAKE = rfb.VERSION + b"\x01\x00"
WHOLE = Rect(0, 0, 640, 480)


async def attach(client: Client, principal: Principal | None = WRITER, **params: Any) -> Channel:
    """Attach a viewer and do the handshake; afterwards only answers to its requests come."""
    channel = client.call("desktop.attach", params, principal=principal)
    await channel.event("opened")
    channel.send(HANDSHAKE + rfb.set_pixel_format() + rfb.set_encodings([rfb.RAW]))
    await channel.until(lambda: len(channel.output) >= 12 + 2 + 4 + 24)
    return channel


async def picture(channel: Channel) -> bytes:
    """Ask for the whole screen and return its pixels."""
    await channel.until(lambda: b"main" in channel.output)
    start = len(channel.output)
    channel.send(rfb.update_request(WHOLE, incremental=False))
    await channel.until(lambda: len(channel.output) >= start + 4 + 12 + 4 * 640 * 480)
    return bytes(channel.output[start + 16 :])


async def xterm(client: Client) -> None:
    await client.ask("desktop.launch", argv=[*XTERM, "-e", "sh", "-c", "read line; echo $line > typed.txt; sleep 1000"])

    async def shown() -> bool:
        return any(window["active"] for window in (await client.ask("desktop.windows"))["windows"])

    await until(shown)


def keys(text: str) -> bytes:
    return b"".join(rfb.key_event(ord(c), down=down) for c in text for down in (True, False)) + (
        rfb.key_event(0xFF0D, down=True) + rfb.key_event(0xFF0D, down=False)
    )


async def typed(client: Client) -> str:
    call = client.execute("cat typed.txt 2>/dev/null || true")
    await call.result()
    return call.output.decode()


async def test_two_viewers_see_the_same_and_each_may_type(desktop: Client) -> None:
    await xterm(desktop)
    first, second = await attach(desktop), await attach(desktop)

    async def same() -> bool:
        return await picture(first) == await picture(second)

    await until(same)  # the window may be active before everything in it is drawn
    second.send(keys("hello"))
    assert await until(lambda: typed(desktop)) == "hello\n"
    await first.until(lambda: any(event.name == "joined" for event in first.events))


@pytest.mark.parametrize("principal", [VIEWER, WRITER])
async def test_who_may_only_watch_types_nothing_but_sees_the_screen(desktop: Client, principal: Principal) -> None:
    await xterm(desktop)
    watcher = await attach(desktop, principal, read_only=principal is WRITER)
    assert watcher.events[0].value["read_only"]
    watcher.send(keys("evil") + rfb.pointer_event(5, 5, 1) + rfb.set_desktop_size(rfb.ScreenSize(100, 100)))
    assert len(set(await picture(watcher))) > 1
    writer = await attach(desktop)
    writer.send(keys("good"))
    assert await until(lambda: typed(desktop)) == "good\n"
    assert (await desktop.ask("desktop.list"))["desktops"][0]["width"] == 640


async def test_a_viewer_of_a_desktop_that_does_not_change_is_told_of_the_lease(desktop: Client, served: Served) -> None:
    viewer = desktop.call("desktop.attach", {"viewer": {"key": "first"}})
    await viewer.event("opened")
    await viewer.until(lambda: viewer.output)
    async with served.client() as other:  # its link does not wake the viewer's link
        for number, (action, mode) in enumerate((("take", "exclusive"), ("release", "free")) * 5, 1):
            await other.ask("desktop.lease", action=action, viewer="first")
            assert (await viewer.event("lease", number))["mode"] == mode


async def test_only_the_holder_of_the_lease_types(desktop: Client) -> None:
    await xterm(desktop)
    first = await attach(desktop, viewer={"key": "first"})
    second = await attach(desktop, viewer={"key": "second"})
    await desktop.ask("desktop.lease", action="take", viewer="second")
    assert (await first.event("lease"))["holder"] == second.events[0].value["viewer"]
    first.send(keys("one"))
    await picture(first)  # the X server has read everything before it
    second.send(keys("two"))
    assert await until(lambda: typed(desktop)) == "two\n"


@pytest.mark.parametrize("message", [b"\xfa\x00\x01\x02", struct.pack(">B3xi", 6, 1 << 30), b"\x02\x00\xff\xff"])
async def test_a_message_that_is_not_allowed_ends_its_viewer_only(desktop: Client, message: bytes) -> None:
    other, hostile = await attach(desktop), await attach(desktop, VIEWER)
    hostile.send(message)
    assert (await hostile.refusal()).code == "protocol_error"
    assert await picture(other)


async def test_a_viewer_that_does_not_read_holds_up_no_other(desktop: Client, served: Served) -> None:
    async with served.client(window=2000) as slow:
        stalled = slow.call("desktop.attach", {}, generous=False)
        await stalled.event("opened")
        stalled.send(HANDSHAKE + rfb.set_pixel_format() + rfb.set_encodings([rfb.RAW]))
        for _ in range(50):
            stalled.send(rfb.update_request(WHOLE, incremental=False))
        reader = await attach(desktop)
        for _ in range(3):
            assert await picture(reader)
        assert len(stalled.output) <= 2000


async def test_input_before_the_connection_is_made_is_not_lost(desktop: Client) -> None:
    channel = desktop.call("desktop.attach", {})
    channel.send(HANDSHAKE)
    await channel.until(lambda: b"main" in channel.output)


async def test_input_that_leaves_a_gap_is_refused(desktop: Client) -> None:
    channel = await attach(desktop)
    channel.send(b"x", offset=channel.sent + 1)
    assert (await channel.refusal()).code == "input_gap"


async def test_the_end_of_the_desktop_is_the_result(desktop: Client) -> None:
    channel = await attach(desktop)
    await desktop.ask("desktop.stop")
    assert (await channel.result())["sent"] == channel.sent


async def test_the_end_of_input_ends_the_viewer(desktop: Client) -> None:
    channel = await attach(desktop)
    channel.end()
    await channel.result()
    assert (await desktop.ask("desktop.list"))["desktops"][0]["viewers"] == 0


async def test_another_instance_and_too_many_viewers_are_refused(desktop: Client) -> None:
    assert (await desktop.refused("desktop.attach", instance="other")).code == "stale_handle"
    viewers = [desktop.call("desktop.attach", {"viewer": {"key": "one"}}) for _ in range(VIEWERS_LIMIT)]
    for viewer in viewers:
        await viewer.event("opened")
    assert (await desktop.refused("desktop.attach")).code == "limit_exceeded"
