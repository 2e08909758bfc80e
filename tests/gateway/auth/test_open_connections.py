"""Connections and requests end with their credential."""

import asyncio

import pytest

from hawse.wire import HawseError, Principal
from hawse_gateway.auth.identity import Identity
from hawse_gateway.auth.open_connections import OpenConnections, ended
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.limits.quotas import HeldLimit, Quotas
from hawse_gateway.store.clock import Clock, Moment
from tests.support.clock import ManualClock
from tests.support.waiting import TIMEOUT


def identity(credential: str = "token-1", expires: Moment | None = None) -> Identity:
    return Identity(OWNER, credential, expires)


def test_a_use_ends_with_its_credential_and_no_other() -> None:
    clock = ManualClock()
    clock.wall = 7.0
    connections, calls = OpenConnections(clock.clock), []
    first = connections.hold(identity("a"), "1.2.3.4:5", lambda: calls.append("a"))
    with first, connections.hold(identity("b"), "1.2.3.4:6", lambda: calls.append("b")):
        assert [(one.address, one.since) for one in connections.of("a")] == [("1.2.3.4:5", 7.0)]
        connections.end("a")
        connections.end("a")
        assert calls == ["a"]
    connections.end("b")
    assert (calls, connections.of("a"), connections.of("b")) == (["a"], [], [])


async def test_a_use_ends_when_its_credential_expires() -> None:
    expired, clock = asyncio.Event(), ManualClock()
    connections = OpenConnections(clock.clock)
    with connections.hold(identity(expires=clock.clock.now().after(0.001)), "", expired.set):
        clock.advance(1)
        await asyncio.wait_for(expired.wait(), TIMEOUT)


async def test_a_use_does_not_end_when_its_credential_was_prolonged() -> None:
    looked, clock = asyncio.Event(), Clock()

    def expiry(_: Identity) -> Moment:
        looked.set()
        return clock.now().after(1000.0)

    def expiry_passed() -> None:
        calls.append(1)

    connections, calls = OpenConnections(clock, expiry=expiry), list[int]()
    with connections.hold(identity(expires=clock.now().after(-1.0)), "", expiry_passed):
        await asyncio.wait_for(looked.wait(), TIMEOUT)
        assert calls == []


@pytest.mark.parametrize("jump", [86_400, -86_400])
async def test_a_change_of_the_date_neither_brings_the_end_forward_nor_delays_it(jump: int) -> None:
    expired, looked, now = asyncio.Event(), asyncio.Event(), {"wall": 1000.0, "uptime": 1000.0}

    def uptime() -> float:
        looked.set()
        return now["uptime"]

    clock = Clock(wall=lambda: now["wall"], uptime=uptime, boot="a boot")
    with OpenConnections(clock).hold(identity(expires=clock.now().after(0.001)), "", expired.set):
        looked.clear()
        now["wall"] += jump
        await asyncio.wait_for(looked.wait(), TIMEOUT)
        assert not expired.is_set()
        now["uptime"] += 1
        await asyncio.wait_for(expired.wait(), TIMEOUT)


def test_the_error_describes_the_cause() -> None:
    assert (ended().code, ended().status) == ("unauthenticated", 401)


def test_a_user_has_at_most_its_number_of_connections_and_requests() -> None:
    guest = Identity(Principal(id="link-1", name="", kind="guest", rights=("view",)), "link-1")
    connections = OpenConnections(connections=HeldLimit(Quotas.parse(["link:connections=1"])))
    with connections.hold(guest, "192.0.2.1:1", lambda: None):
        with pytest.raises(HawseError, match="limit_exceeded"):
            connections.check(guest, "192.0.2.2:1")
        with pytest.raises(HawseError, match="limit_exceeded"), connections.hold(guest, "192.0.2.2:1", lambda: None):
            pass
        assert len(connections.of("link-1")) == 1
        connections.check(identity(), "192.0.2.1:1")
    connections.check(guest, "192.0.2.1:1")
