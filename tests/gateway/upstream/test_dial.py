import asyncio
from pathlib import Path

import pytest

from gateway.upstream.dial import dial, watch
from hawse.link import StreamLink
from hawse.wire import Data, Message
from hawse.wire.limits import LINK_CHANNELS
from tests.support.gateway import FakeRuntime, eventually


class Owner:
    def __init__(self) -> None:
        self.received: list[Message | Data] = []
        self.lost: list[Exception | None] = []
        self.drained = 0

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        self.received.append(event)

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        self.lost.append(error)

    def link_drained(self) -> None:
        self.drained += 1


async def test_a_link_is_ready_when_it_was_welcomed(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(runtime.path, owner)
    assert link.connection.limits.channels == LINK_CHANNELS
    ch = link.connection.call("answer", {"a": 1})
    link.flush()
    await eventually(lambda: owner.received)
    assert owner.received[0].ch == ch  # type: ignore[union-attr]
    link.abort()
    await link.lost.wait()
    assert owner.lost == [None]


async def test_where_nobody_listens_there_is_no_link(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await dial(tmp_path / "nobody", Owner())


async def test_one_who_hangs_up_before_the_welcome_is_no_runtime(tmp_path: Path) -> None:
    path = tmp_path / "s"
    server = await asyncio.start_unix_server(lambda reader, writer: writer.close(), path)
    async with server:
        with pytest.raises(OSError):
            await dial(path, Owner())


async def test_one_who_never_welcomes_can_be_given_up_without_a_trace(tmp_path: Path) -> None:
    path, owner, gone = tmp_path / "s", Owner(), asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        gone.set()
        writer.close()

    async with await asyncio.start_unix_server(silent, path):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await dial(path, owner)
        await gone.wait()
    await eventually(lambda: owner.lost)


async def test_a_watched_link_is_pinged_and_kept_while_it_answers(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(runtime.path, owner)
    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(watch(link, interval=0.01, silence=1.0))
        await eventually(lambda: len(owner.received) >= 3)
        assert all(type(event).__name__ == "Pong" for event in owner.received)
        link.abort()
    assert watching.done()


async def test_a_link_on_which_nothing_is_heard_is_let_go(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(runtime.path, owner)
    runtime.links[0]._transport.pause_reading()  # type: ignore[union-attr]  # as a stopped process would
    await watch(link, interval=0.01, silence=0.03)
    assert isinstance(owner.lost[0], TimeoutError)


async def test_its_owner_hears_when_it_takes_bytes_again(runtime: FakeRuntime) -> None:
    owner = Owner()
    link = await dial(runtime.path, owner)
    transport = runtime.links[0]._transport
    assert transport is not None
    transport.pause_reading()
    for _ in range(8):
        link.connection.call("answer", {"x": "y" * 500_000})
        link.flush()
    assert link.connection.pending
    transport.resume_reading()
    await eventually(lambda: owner.drained)
    await eventually(lambda: len(owner.received) == 8)
    link.abort()
    await link.lost.wait()
