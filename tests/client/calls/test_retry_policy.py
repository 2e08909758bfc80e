"""The retry policy, on a clock of the test."""

import asyncio

from hawse.client.base.options import Options
from hawse.client.calls.call import ClientCall
from hawse.client.calls.retry_policy import RetryPolicy


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def make() -> tuple[RetryPolicy, Clock, list[float]]:
    """Return a policy, its clock, and the times of its pauses. A pause takes no time, because the dice return 0."""
    clock, rolls = Clock(), []

    def dice() -> float:
        rolls.append(clock.now)
        return 0.0

    return RetryPolicy(Options(clock=clock, dice=dice, unavailable_give_up=30, stable=5)), clock, rolls


async def again(policy: RetryPolicy, call: ClientCall) -> bool:
    """Retry, and wait until the pause is over."""
    tried = asyncio.Event()
    if not policy.retry(call, lambda call: tried.set()):
        return False
    await tried.wait()
    return True


async def test_a_call_is_tried_again_until_it_has_been_in_trouble_for_too_long() -> None:
    policy, clock, _ = make()
    call = ClientCall("x")
    for clock.now in (0, 10, 29.9):
        assert await again(policy, call)
    clock.now = 30
    assert not await again(policy, call)
    assert list(policy) == []


async def test_a_call_that_succeeded_in_between_has_its_full_time_again() -> None:
    policy, clock, _ = make()
    call = ClientCall("x")
    for clock.now in (0, 29):
        assert await again(policy, call)
    policy.succeeded(call)
    for clock.now in (31, 60):
        assert await again(policy, call)


async def test_pauses_grow_when_a_success_does_not_last() -> None:
    clock = Clock()
    policy = RetryPolicy(Options(clock=clock, dice=lambda: 1.0, backoff_base=0.001, stable=5))
    call, waited = ClientCall("x"), []
    loop = asyncio.get_running_loop()
    for _ in range(4):
        began = loop.time()
        await again(policy, call)
        waited.append(loop.time() - began)
        policy.succeeded(call)
    assert waited[3] >= 0.004
    clock.now = 6
    began = loop.time()
    await again(policy, call)
    assert loop.time() - began < 0.004


async def test_forgetting_stops_the_timer() -> None:
    policy, _, _ = make()
    call = ClientCall("x")
    tried: list[ClientCall] = []
    policy.retry(call, tried.append)
    policy.forget(call)
    policy.forget(call)
    later = asyncio.Event()
    policy.retry(ClientCall("y"), lambda _: later.set())
    await later.wait()
    assert tried == []


async def test_a_limit_is_set_once() -> None:
    policy = RetryPolicy(Options(connect_timeout=0.001))
    call, expired = ClientCall("x"), asyncio.Event()
    times: list[ClientCall] = []

    def expire(call: ClientCall) -> None:
        times.append(call)
        expired.set()

    policy.limit(call, expire)
    policy.limit(call, expire)
    await expired.wait()
    assert times == [call]
