"""Bytes per second: a client above its limit waits, and nothing else does."""

import asyncio

import pytest

from hawse.wire import HawseError, Principal
from hawse_gateway.limits.byte_rates import PATIENCE, WINDOW_MIN, ByteRates, Pacer, paced
from hawse_gateway.limits.quotas import Quotas
from hawse_gateway.upstream.call import UpstreamCall, UpstreamItem
from tests.support.gateway import VIEWER_TOKEN, FakeRuntime, Gateway, Peer, pattern
from tests.support.waiting import TIMEOUT

USER = Principal(id="ann", name="", kind="user", rights=("view",))
GUEST = Principal(id="link-1", name="", kind="guest", rights=("view",))
OWNER = Principal(id="owner", name="", kind="owner", rights=("*",))
HERE = "192.0.2.1:1"
RATE = 64 << 10


class Time:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def rates(time: Time, *texts: str) -> ByteRates:
    return ByteRates(Quotas.parse(texts), clock=time)


def test_a_debt_is_paid_with_time_and_shared_by_all_connections() -> None:
    time = Time()
    limits = rates(time, "user:bytes=10000", "address:bytes=20000")
    pace, other = limits.pace(USER, HERE), limits.pace(USER, "192.0.2.2:1")
    assert pace is not None
    assert other is not None
    pace.spend(10_000)
    assert pace.wait == 0  # a second's bytes may be sent at once
    pace.spend(5_000)
    assert (pace.wait, other.wait) == (0.5, 0.5)
    neighbour = limits.pace(GUEST, HERE)
    assert neighbour is not None
    assert neighbour.wait == 0  # the address has a quarter of its bytes left
    time.now = 0.5
    assert pace.wait == 0


def test_the_window_is_a_second_of_bytes() -> None:
    pace = rates(Time(), "user:bytes=100000", "address:bytes=50000").pace(USER, HERE)
    assert pace is not None
    assert (pace.window(1 << 20), pace.window(1000)) == (50_000, 1000)
    slow = rates(Time(), "user:bytes=4096").pace(USER, HERE)
    assert slow is not None
    assert slow.window(1 << 20) == WINDOW_MIN


def test_a_caller_without_a_limit_has_no_pace() -> None:
    limits = rates(Time(), "user:bytes=4096")
    assert limits.pace(OWNER, HERE) is None
    assert limits.pace(GUEST, HERE) is None


def test_nothing_new_starts_while_the_debt_is_large() -> None:
    time = Time()
    pace = rates(time, "user:bytes=10000").pace(USER, HERE)
    assert pace is not None
    pace.spend(10_000 + int(PATIENCE) * 10_000)
    with paced(pace):
        pass
    pace.spend(20_000)
    with (
        pytest.raises(HawseError, match=r"limit_exceeded: the user 'ann' sends and receives too many") as caught,
        paced(pace),
    ):
        pass
    assert caught.value.details == {"retry_after": 2.0}
    time.now = 2.0
    with paced(pace):
        pass


async def test_a_pacer_resumes_when_the_debt_is_paid() -> None:
    time, resumed = Time(), asyncio.Event()
    pace = rates(time, "user:bytes=1000000").pace(USER, HERE)
    assert pace is not None
    pacer = Pacer(pace, resumed.set)
    assert not pacer.blocked
    pace.spend(1_000_001)
    assert pacer.blocked
    assert not pacer.overdrawn
    time.now = 1.0
    await asyncio.wait_for(resumed.wait(), TIMEOUT)
    assert not pacer.blocked
    pacer.close()


# ---- through a gateway


async def take(peer: Peer, ch: int, offset: int, until: int) -> int:
    """Take a flood up to an offset, or to its result; return the offset of the next byte."""
    while offset < until:
        message = await peer.receive(TIMEOUT)
        if getattr(message, "type", None) == "result":
            return offset
        assert (message.ch, message.offset) == (ch, offset)
        assert message.payload == pattern(offset, len(message.payload))
        offset += len(message.payload)
        peer.connection.grant(ch, len(message.payload))
        await peer.flush()
    return offset


async def test_a_client_above_its_limit_waits_and_its_neighbours_do_not(runtime: FakeRuntime) -> None:
    time, total = Time(), 1 << 20
    async with (
        Gateway(runtime, byte_rates=rates(time, f"link:bytes={RATE}")) as gateway,
        gateway.peer(token=VIEWER_TOKEN) as slow,
        gateway.peer() as owner,
    ):
        ch = await slow.call("flood", {"bytes": total})
        at = await take(slow, ch, 0, RATE // 2)
        assert await take(owner, await owner.call("flood", {"bytes": total}), 0, total) == total
        limited = next(iter(runtime.calls))
        assert runtime.granted[limited] <= 3 * RATE
        while at < total:
            time.now += 2.0
            at = await take(slow, ch, at, min(total, at + RATE // 2))
    assert at == total


async def test_input_of_a_client_above_its_limit_gets_no_credit_until_later(runtime: FakeRuntime) -> None:
    time = Time()
    async with (
        Gateway(runtime, byte_rates=rates(time, f"link:bytes={RATE}")) as gateway,
        gateway.peer(token=VIEWER_TOKEN) as slow,
    ):
        ch = await slow.call("eat")
        await slow.send(ch, 0, bytes(RATE))
        await runtime.until(lambda: any(len(data) == RATE for data in runtime.input.values()))
        before = slow.connection.window(ch)
        runtime.links[0].connection.grant(next(iter(runtime.calls)), RATE)
        runtime.links[0].flush()
        assert await slow.ask("answer", {"x": 1}) == {"x": 1}  # after the credit, which is withheld
        assert slow.connection.window(ch) == before
        time.now = 9.0
        while slow.connection.window(ch) == before:
            await slow.receive(TIMEOUT)
        assert slow.connection.window(ch) == before + RATE


async def test_a_transfer_over_http_keeps_its_pace(runtime: FakeRuntime) -> None:
    time, total = Time(), 8 * RATE
    pace = rates(time, f"user:bytes={RATE}").pace(USER, HERE)
    async with Gateway(runtime) as gateway:
        link = gateway.links.get("local")
        with paced(pace):
            request = UpstreamCall(link, "flood", {"bytes": total}, principal=OWNER)
        async with request:
            at = 0
            while at < RATE:
                item = await request.next()
                assert isinstance(item, UpstreamItem)
                at += len(item.payload)
            async with UpstreamCall(link, "flood", {"bytes": total}, principal=OWNER) as other:
                assert sum([len(data) async for data in other.data()]) == total
            assert next(iter(runtime.granted.values())) <= 2 * RATE
            time.now += 2.0
            async for data in request.data():
                at += len(data)
                time.now += 2.0
    assert at == total
