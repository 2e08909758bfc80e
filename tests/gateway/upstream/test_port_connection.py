"""The gateway's connection to a port in a sandbox, with a fake runtime."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Connection, Data, End, HawseError, Kind, Message
from hawse_gateway.auth.principals import PREVIEW
from hawse_gateway.upstream.call import WINDOW
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.port_connection import PortTunnel
from hawse_gateway.upstream.sandbox_link import SandboxLink
from tests.support.gateway import FakeRuntime, FakeSandboxes, Flood, pattern
from tests.support.waiting import Changes


class Ported(FakeRuntime):
    """Tokens: `echo`, `flood`, `deaf` (takes no input), `mute` (never connects), and others, which are unknown."""

    link: StreamLink

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        self.link = link
        if isinstance(event, Data) and b"deaf" in bytes(self.calls[event.ch].params):
            self.input[event.ch] += event.payload
            return
        if isinstance(event, Data):
            link.connection.send_data(event.ch, Kind.OUTPUT, event.offset, event.payload)
            link.connection.grant(event.ch, len(event.payload))
            return
        if isinstance(event, End):
            link.connection.send_event(event.ch, "end", {"offset": 0})
        super().link_received(link, event)

    def _call(self, link: StreamLink, call: Call) -> None:
        params = bytes(call.params)
        assert call.principal == PREVIEW
        if b"unknown" in params:
            link.connection.send_error(call.ch, HawseError("not_found", "no such preview"))
        elif b"mute" not in params:
            link.writer.attach(call.ch, Opening(4 << 20 if b"flood" in params else 0))


class Opening(Flood):
    """Sends `opened` as soon as it has credit, then sends `total` bytes, if there are any."""

    opened = False

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self.opened:
            return bool(self.total) and super().pull(connection, ch, size)
        if connection.window(ch) > 0:
            self.opened = True
            connection.send_event(ch, "opened", {"port": 80, "address": "::1"})
        return self.opened


class ObservedTunnel(PortTunnel):
    """Notifies of the bytes that it receives."""

    def __init__(self, link: SandboxLink, token: str) -> None:
        super().__init__(link, token)
        self.changes = Changes()

    def receive_data(self, data: Data) -> None:
        super().receive_data(data)
        self.changes.notify()


@asynccontextmanager
async def tunnel(runtime: FakeRuntime, token: str) -> AsyncIterator[ObservedTunnel]:
    tasks = asyncio.TaskGroup()  # by hand, so that what is raised comes out as it is
    await tasks.__aenter__()
    links = Links(FakeSandboxes(runtime.path), tasks)
    try:
        there = ObservedTunnel(links.get("local"), token)
        async with there:
            yield there
    finally:
        links.stop()
        await tasks.__aexit__(None, None, None)


@pytest.fixture
async def ported(tmp_path: Path) -> AsyncIterator[Ported]:
    async with Ported(tmp_path / "s") as runtime:
        yield runtime


async def test_written_bytes_reach_the_program_and_come_back(ported: Ported) -> None:
    async with tunnel(ported, "echo") as there:
        assert there.port == 80
        await there.write(b"one ", b"", b"two")
        read = b""
        while len(read) < 7:
            read += await there.read()
        assert read == b"one two"
        there.end()
        assert await there.read() == b""
        with pytest.raises(HawseError, match="exited"):
            await there.write(b"late")


async def test_more_than_a_window_arrives_as_it_is_read(ported: Ported) -> None:
    async with tunnel(ported, "flood") as there:
        (ch,) = ported.calls
        await there.changes.until(lambda: there.buffered > WINDOW - 65_536)
        assert ported.link.connection.window(ch) < 65_536, "nothing is granted that was not taken"
        at = 0
        while data := await there.read():
            assert data == pattern(at, len(data))
            at += len(data)
        assert at == 4 << 20


async def test_a_writer_waits_for_a_program_that_does_not_read(ported: Ported) -> None:
    async with tunnel(ported, "deaf") as there:
        window = ported.limits.input_window
        await there.write(bytes(window))
        (ch,) = ported.calls
        async with asyncio.TaskGroup() as tasks:
            writing = tasks.create_task(there.write(b"more"))
            await ported.until(lambda: len(ported.input[ch]) == window)
            assert not writing.done()
            ported.link.connection.grant(ch, 4)
            ported.link.flush()
        assert len(ported.input[ch]) <= window + 4


async def test_writes_of_several_tasks_keep_their_order(ported: Ported) -> None:
    async with tunnel(ported, "echo") as there, asyncio.TaskGroup() as tasks:
        for number in range(50):
            tasks.create_task(there.write(bytes([number]) * 1000))
        read = bytearray()
        while len(read) < 50_000:
            read += await there.read()
        assert read == b"".join(bytes([number]) * 1000 for number in range(50))


async def test_an_error_of_the_runtime_is_raised_on_entering(ported: Ported) -> None:
    with pytest.raises(HawseError, match="not_found"):
        async with tunnel(ported, "unknown"):
            pass


async def test_leaving_the_context_cancels_the_call(ported: Ported) -> None:
    async with tunnel(ported, "flood"):
        pass
    assert len(ported.cancelled) == 1


async def test_cancelling_while_entering_cancels_the_call(ported: Ported) -> None:
    async with asyncio.TaskGroup() as tasks:
        links = Links(FakeSandboxes(ported.path), tasks)

        async def enter() -> None:
            async with PortTunnel(links.get("local"), "mute"):
                pass

        entering = tasks.create_task(enter())
        await ported.until(lambda: ported.calls)
        entering.cancel()
        await ported.until(lambda: ported.cancelled)
        links.stop()


async def test_a_lost_link_wakes_reader_and_writer(ported: Ported) -> None:
    async with tunnel(ported, "deaf") as there:
        await there.write(bytes(ported.limits.input_window))
        tasks = [asyncio.create_task(work) for work in (there.read(), there.write(b"x"))]
        await asyncio.sleep(0)
        ported.link.abort()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert isinstance(outcome, HawseError)
            assert outcome.code == "interrupted"
