"""Watchers of one proxy."""

import asyncio

from hawse.api.egress import EgressLost, EgressRefusal, EgressRequest
from hawse_gateway.egress.watchers import QUEUE, RECENT, Watchers


def refusal(number: int) -> EgressRefusal:
    return EgressRefusal(time=float(number), reason="rule", host=f"h{number}.test", port=443, method="GET")


async def test_a_watcher_gets_refusals_and_optionally_allowed_requests() -> None:
    watchers = Watchers()
    some, every = watchers.join(allowed=False), watchers.join(allowed=True)
    watchers.refused(refusal(1))
    watchers.allowed(2.0, "api.test", 443, "GET")
    refused = EgressRequest(time=1.0, reason="rule", host="h1.test", port=443, method="GET")
    assert await some.next() == [refused]
    passed = EgressRequest(time=2.0, allowed=True, host="api.test", port=443, method="GET")
    assert await every.next() == [refused, passed]


async def test_a_slow_watcher_loses_requests_and_gets_their_number() -> None:
    watchers = Watchers()
    slow = watchers.join(allowed=False)
    for number in range(QUEUE + 3):
        watchers.refused(refusal(number))
    found = await slow.next()
    assert len(found) == QUEUE + 1
    assert found[-1] == EgressLost(count=3)
    waiting = asyncio.ensure_future(slow.next())
    watchers.refused(refusal(0))
    assert len(await waiting) == 1


def test_recent_refusals_are_kept() -> None:
    watchers = Watchers()
    for number in range(RECENT + 5):
        watchers.refused(refusal(number))
    assert [each.time for each in watchers.recent] == [float(number) for number in range(5, RECENT + 5)]
