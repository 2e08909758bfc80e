import asyncio

import pytest

from gateway.auth.principals import OWNER
from gateway.http.upstream_call import WINDOW, UpstreamCall, UpstreamItem
from gateway.upstream.links import SandboxLink
from hawse.wire import HawseError
from tests.support.gateway import FakeRuntime, Gateway, eventually, pattern


@pytest.fixture
def link(gateway: Gateway) -> SandboxLink:
    return gateway.connect.links.get("local")


async def test_an_answer_comes_back(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "answer", {"x": 1}, principal=OWNER) as request:
        assert await request.result() == {"x": 1}
    assert runtime.seen[-1].principal == OWNER


async def test_bytes_come_in_order_and_no_more_than_a_window_is_on_its_way(
    link: SandboxLink, runtime: FakeRuntime
) -> None:
    total = 4 * WINDOW
    async with UpstreamCall(link, "flood", {"bytes": total}, principal=OWNER) as request:
        await eventually(lambda: request._items and held(request) == WINDOW)
        at = 0
        async for data in request.data():
            assert data == pattern(at, len(data))
            at += len(data)
    assert at == total


def held(request: UpstreamCall) -> int:
    return sum(len(item.payload) for item in request._items if isinstance(item, UpstreamItem))


async def test_input_goes_in_pieces_and_its_end_behind_it(link: SandboxLink) -> None:
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


async def test_a_call_that_is_over_takes_no_input(link: SandboxLink) -> None:
    async with UpstreamCall(link, "fail", {}, principal=OWNER) as request:
        with pytest.raises(HawseError):
            await request.result()
        assert not await request.send(b"x")


async def test_input_that_nobody_takes_waits(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "eat", {}, principal=OWNER) as request:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await request.send(bytes(1 << 20))
        assert len(runtime.input[request.link_ch]) == 1 << 18  # one input window
    await eventually(lambda: runtime.cancelled)


async def test_its_key_goes_with_it(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "answer", {}, principal=OWNER, key="once") as request:
        await request.result()
    assert runtime.seen[-1].key == "once"


async def test_events_are_paid_for_and_passed_over(link: SandboxLink) -> None:
    async with UpstreamCall(link, "events", {"count": 500, "size": 2000}, principal=OWNER) as request:
        assert [data async for data in request.data()] == []


async def test_an_error_is_raised(link: SandboxLink) -> None:
    async with UpstreamCall(link, "fail", {}, principal=OWNER) as request:
        with pytest.raises(HawseError, match="conflict"):
            await request.result()


async def test_a_broken_line_is_an_error_too(link: SandboxLink) -> None:
    async with UpstreamCall(link, "die", {}, principal=OWNER) as request:
        with pytest.raises(HawseError, match="interrupted"):
            await request.result()


async def test_leaving_cancels_what_is_not_over(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with UpstreamCall(link, "hang", {}, principal=OWNER) as request:
        await eventually(lambda: runtime.seen)
    await eventually(lambda: runtime.cancelled)
    assert runtime.cancelled == [request.link_ch]
