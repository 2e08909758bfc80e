import asyncio
from typing import Any

import pytest

from hawse.wire import Data, HawseError
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.upstream.call import WINDOW, UpstreamCall, UpstreamItem
from hawse_gateway.upstream.sandbox_link import SandboxLink
from tests.support.gateway import FakeRuntime, Gateway, pattern
from tests.support.waiting import Changes


@pytest.fixture
def link(gateway: Gateway) -> SandboxLink:
    return gateway.links.get("local")


async def test_a_result_is_returned(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "answer", {"x": 1}, principal=OWNER) as request:
        assert await request.result() == {"x": 1}
    assert runtime.seen[-1].principal == OWNER


class ObservedCall(UpstreamCall):
    """Notifies of the bytes that it receives."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.changes = Changes()

    def receive_data(self, data: Data) -> None:
        super().receive_data(data)
        self.changes.notify()


async def test_bytes_arrive_in_order_and_at_most_a_window_is_in_flight(link: SandboxLink, runtime: FakeRuntime) -> None:
    total = 4 * WINDOW
    async with ObservedCall(link, "flood", {"bytes": total}, principal=OWNER) as request:
        await request.changes.until(lambda: request.buffered == WINDOW)
        at = 0
        async for data in request.data():
            assert data == pattern(at, len(data))
            at += len(data)
    assert at == total


async def test_input_is_sent_in_pieces_followed_by_its_end(link: SandboxLink) -> None:
    sent = bytes(range(256)) * 900
    async with UpstreamCall(link, "echo", {}, principal=OWNER) as request:
        back = bytearray()

        async def read() -> None:
            while (item := await request.next()) is not None:
                assert isinstance(item, UpstreamItem)
                assert item.offset == len(back)
                back.extend(item.payload)

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(read())
            assert await request.send(sent)
            request.end()
        assert back == sent
        assert await request.result() == {"bytes": len(sent)}


async def test_a_completed_call_refuses_input(link: SandboxLink) -> None:
    async with UpstreamCall(link, "fail", {}, principal=OWNER) as request:
        with pytest.raises(HawseError):
            await request.result()
        assert not await request.send(b"x")


async def test_input_waits_for_a_runtime_that_does_not_read(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "eat", {}, principal=OWNER) as request:
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(request.send(bytes(1 << 20)))
            await runtime.until(lambda: runtime.input and len(runtime.input[request.link_ch]) == 1 << 18)
            done, _ = await asyncio.wait([sending], timeout=0.2)
            assert not done
            sending.cancel()
        assert len(runtime.input[request.link_ch]) == 1 << 18  # one input window
    await runtime.until(lambda: runtime.cancelled)


async def test_the_key_is_forwarded(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "answer", {}, principal=OWNER, key="once") as request:
        await request.result()
    assert runtime.seen[-1].key == "once"


async def test_events_are_credited_and_skipped(link: SandboxLink) -> None:
    async with UpstreamCall(link, "events", {"count": 500, "size": 2000}, principal=OWNER) as request:
        assert [data async for data in request.data()] == []


async def test_an_error_is_raised(link: SandboxLink) -> None:
    async with UpstreamCall(link, "fail", {}, principal=OWNER) as request:
        with pytest.raises(HawseError, match="conflict"):
            await request.result()


async def test_a_lost_link_is_raised_as_an_error(link: SandboxLink) -> None:
    async with UpstreamCall(link, "die", {}, principal=OWNER) as request:
        with pytest.raises(HawseError, match="interrupted"):
            await request.result()


async def test_leaving_the_context_cancels_an_unfinished_call(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "hang", {}, principal=OWNER) as request:
        await runtime.until(lambda: runtime.seen)
    await runtime.until(lambda: runtime.cancelled)
    assert runtime.cancelled == [request.link_ch]
