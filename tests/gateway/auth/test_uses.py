"""What is open with a credential ends with it."""

import asyncio

from gateway.auth.identity import Identity
from gateway.auth.principals import OWNER
from gateway.auth.uses import OpenUses, ended


def identity(credential: str = "token-1", expires: float | None = None) -> Identity:
    return Identity(OWNER, credential, expires)


def test_a_use_ends_with_its_credential_and_no_other() -> None:
    uses, calls = OpenUses(lambda: 7.0), []
    first = uses.hold(identity("a"), "1.2.3.4:5", lambda: calls.append("a"))
    with first, uses.hold(identity("b"), "1.2.3.4:6", lambda: calls.append("b")):
        assert [(use.address, use.since) for use in uses.of("a")] == [("1.2.3.4:5", 7.0)]
        uses.end("a")
        uses.end("a")
        assert calls == ["a"]
    uses.end("b")
    assert (calls, uses.of("a"), uses.of("b")) == (["a"], [], [])


async def test_a_use_ends_when_its_credential_expires() -> None:
    expired = asyncio.Event()
    now = 100.0
    uses = OpenUses(lambda: now)
    with uses.hold(identity(expires=100.001), "", expired.set):
        now = 101.0
        await asyncio.wait_for(expired.wait(), 5)


async def test_a_clock_that_was_set_back_delays_the_end() -> None:
    looked, now = asyncio.Event(), 100.0

    def clock() -> float:
        looked.set()
        return now

    uses, calls = OpenUses(clock), []
    with uses.hold(identity(expires=100.001), "", lambda: calls.append(1)):
        looked.clear()
        now = 50.0
        await asyncio.wait_for(looked.wait(), 5)
        assert calls == []


def test_the_error_says_what_has_happened() -> None:
    assert (ended().code, ended().status) == ("unauthenticated", 401)
