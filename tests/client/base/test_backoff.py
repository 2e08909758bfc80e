"""Delays between attempts."""

from hypothesis import given, strategies as st

from hawse.client.base.backoff import Backoff


def delays(dice: float, count: int) -> list[float]:
    backoff = Backoff(base=0.25, cap=10, dice=lambda: dice)
    return [backoff.next() for _ in range(count)]


def test_the_first_retry_comes_at_once() -> None:
    assert delays(0.999, 1) == [0]


def test_the_bound_doubles_to_2_s_and_is_the_cap_when_the_outage_is_long() -> None:
    assert delays(1.0, 33) == [0, 0.25, 0.5, 1, *[2] * 26, 10, 10, 10]


def test_a_cap_below_2_s_holds_from_the_beginning() -> None:
    backoff = Backoff(base=0.25, cap=0.1, dice=lambda: 1.0)
    assert [backoff.next() for _ in range(40)] == [0] + [0.1] * 39


@given(st.floats(0, 1, exclude_max=True), st.integers(2, 200))
def test_a_delay_is_anywhere_below_the_bound(dice: float, count: int) -> None:
    bounds = delays(1.0, count)
    assert all(delay <= bound for delay, bound in zip(delays(dice, count), bounds, strict=True))
    assert delays(0.0, count) == [0] * count


def test_after_a_success_it_begins_again() -> None:
    backoff = Backoff(base=1, cap=10, dice=lambda: 1)
    assert [backoff.next(), backoff.next(), backoff.next()] == [0, 1, 2]
    backoff.reset()
    assert [backoff.next(), backoff.next()] == [0, 1]


def test_a_very_long_outage_does_not_overflow() -> None:
    assert delays(1.0, 5000)[-1] == 10
