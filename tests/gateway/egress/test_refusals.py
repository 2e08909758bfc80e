"""Refusals are kept until the gateway has written them."""

import asyncio

from hawse_gateway.egress.refusals import BATCH, BURST, KEPT, RATE, Ask, Refusals, RefusedError


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


async def test_refusals_are_sent_until_they_are_written() -> None:
    refusals = Refusals()
    refusals.add("rule", "evil.test", 443, "CONNECT")
    refusals.add("method", "api.test", 443, "PUT")
    first = await refusals.answer(Ask(), 0)
    assert [each.reason for each in first.refusals] == ["rule", "method"]
    assert (await refusals.answer(Ask(), 0)).refusals == first.refusals  # the gateway was killed before it wrote them
    assert (await refusals.answer(Ask(written=first.last), 0)).refusals == []


async def test_an_answer_waits_for_a_refusal() -> None:
    refusals = Refusals()
    waiting = asyncio.create_task(refusals.answer(Ask(), 60))
    await asyncio.sleep(0)
    refusals.add("address", "x.test")
    assert [each.host for each in (await waiting).refusals] == ["x.test"]


async def test_a_flood_is_counted_and_not_kept() -> None:
    clock = Clock()
    refusals = Refusals(clock, clock)
    for _ in range(BURST + 10):
        refusals.add("rule")
    clock.now += 2
    for _ in range(20):
        refusals.add("rule")
    answer = await refusals.answer(Ask(), 0)
    assert len(answer.refusals) == BURST + 2 * RATE
    assert answer.lost == 20
    assert answer.counters.refused == BURST + 30


async def test_the_number_of_those_that_wait_is_limited() -> None:
    clock = Clock()
    refusals = Refusals(clock, clock)
    for _ in range(KEPT + 5):
        clock.now += 1
        refusals.add("rule", "x" * 1000, 1, "y" * 1000)
    written, sizes = 0, list[int]()
    while (answer := await refusals.answer(Ask(written=written), 0)).refusals:
        written = answer.last
        sizes.append(len(answer.refusals))
        assert (len(answer.refusals[0].host), len(answer.refusals[0].method)) == (253, 32)
    assert (sum(sizes), max(sizes), answer.lost) == (KEPT, BATCH, 5)


def test_an_error_has_its_reason() -> None:
    assert RefusedError("rule", "no").reason == "rule"


async def test_an_answer_includes_the_resource_usage_of_the_process() -> None:
    counters = (await Refusals().answer(Ask(), 0)).counters
    assert counters.cpu > 0
    assert counters.memory > 1 << 20
