import pytest

from gateway.links import SandboxLink
from gateway.request import WINDOW, Request
from hawse.wire import HawseError
from tests.gateway.fakes import FakeRuntime, Gateway, eventually, pattern


@pytest.fixture
def link(gateway: Gateway) -> SandboxLink:
    return gateway.connect.links.get("local")


async def test_an_answer_comes_back(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with Request(link, "answer", {"x": 1}, role="owner") as request:
        assert await request.result() == {"x": 1}
    assert runtime.seen[-1].role == "owner"


async def test_bytes_come_in_order_and_no_more_than_a_window_is_on_its_way(
    link: SandboxLink, runtime: FakeRuntime
) -> None:
    total = 4 * WINDOW
    async with Request(link, "flood", {"bytes": total}, role="owner") as request:
        await eventually(lambda: request._items and sum(map(len, request._items)) == WINDOW)  # type: ignore[arg-type]
        at = 0
        async for data in request.data():
            assert data == pattern(at, len(data))
            at += len(data)
    assert at == total


async def test_events_are_paid_for_and_passed_over(link: SandboxLink) -> None:
    async with Request(link, "events", {"count": 500, "size": 2000}, role="owner") as request:
        assert [data async for data in request.data()] == []


async def test_an_error_is_raised(link: SandboxLink) -> None:
    async with Request(link, "fail", {}, role="owner") as request:
        with pytest.raises(HawseError, match="conflict"):
            await request.result()


async def test_a_broken_line_is_an_error_too(link: SandboxLink) -> None:
    async with Request(link, "die", {}, role="owner") as request:
        with pytest.raises(HawseError, match="interrupted"):
            await request.result()


async def test_leaving_cancels_what_is_not_over(link: SandboxLink, runtime: FakeRuntime) -> None:
    async with Request(link, "hang", {}, role="owner") as request:
        await eventually(lambda: runtime.seen)
    await eventually(lambda: runtime.cancelled)
    assert runtime.cancelled == [request.link_ch]
