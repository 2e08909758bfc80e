"""Bytes in flight: few for a slow reader, enough for a fast one with a long round trip; sending never gets stuck."""

import heapq
from typing import NamedTuple

import pytest

from hawse_runtime.terminal.congestion_window import STEP, CongestionWindow

KIB = 1 << 10
MIB = 1 << 20
SLICE = 64 * KIB


class Run(NamedTuple):
    rate: float  # bytes per second that the reader got in the second half
    most: int  # bytes in flight at most in the second half
    peak: int  # bytes in flight at most


def simulate(*, speed: float, round_trip: float, window: int = 512 * KIB, step: int = 64 * KIB, seconds: float) -> Run:
    """A sender with endless output, a reader that takes `speed` bytes per second and grants in steps of `step`."""
    now = 0.0
    congestion = CongestionWindow(lambda: now)
    credit, sent, back, read, owed, most, peak, counted = window, 0, 0, 0, 0, 0, 0, 0
    busy_until = 0.0
    arrivals: list[tuple[float, int, int]] = []  # (time, +bytes granted or -bytes read)
    number = 0
    while now < seconds:
        while (size := min(congestion.room(credit, sent, back), SLICE)) > 0:
            credit, sent = credit - size, sent + size
            congestion.sent(sent)
            busy_until = max(busy_until, now + round_trip / 2) + size / speed
            heapq.heappush(arrivals, (busy_until, number := number + 1, -size))
        peak = max(peak, congestion.size)
        if now > seconds / 2:
            most = max(most, congestion.size)
        due = arrivals[0][0] if arrivals else float("inf")
        probe = now + 0.05
        now = min(due, probe)
        if now < due:
            continue
        _, _, change = heapq.heappop(arrivals)
        if change > 0:
            credit, back = credit + change, back + change
        else:
            read, owed = read - change, owed - change
            counted += -change if now > seconds / 2 else 0
            if owed >= step:
                heapq.heappush(arrivals, (now + round_trip / 2, number := number + 1, owed))
                owed = 0
    return Run(counted / (seconds / 2), most, peak)


def test_a_slow_reader_has_few_bytes_in_flight() -> None:
    run = simulate(speed=1e6, round_trip=0.001, seconds=20)
    assert run.most <= 256 * KIB
    assert run.rate > 0.95e6


@pytest.mark.parametrize("round_trip", [0.0005, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("speed", [20e3, 50e3, 100e3, 200e3, 300e3, 1e6, 10e6, 100e6])
def test_an_interrupt_waits_for_at_most_half_a_second_of_output_and_64_kib(speed: float, round_trip: float) -> None:
    """Bytes in flight when Ctrl-C is pressed arrive before the prompt."""
    run = simulate(speed=speed, round_trip=round_trip, window=MIB, seconds=20 if speed > 1e6 else 60)
    assert run.peak <= 64 * KIB + 0.5 * speed * 1.1
    assert run.rate > 0.6 * min(speed, MIB / round_trip, 64 * KIB / round_trip if speed < 1e6 else speed)


def test_a_fast_reader_with_a_short_round_trip_uses_its_bandwidth() -> None:
    assert simulate(speed=80e6, round_trip=0.0005, seconds=1).rate > 60e6


@pytest.mark.parametrize("round_trip", [0.02, 0.1])
def test_a_long_round_trip_is_filled_as_far_as_the_credit_window_allows(round_trip: float) -> None:
    run = simulate(speed=30e6, round_trip=round_trip, window=4 * MIB, seconds=20)
    assert run.rate > 0.75 * min(30e6, 4 * MIB / round_trip)


def test_a_reader_that_grants_in_steps_larger_than_the_window_is_not_stuck() -> None:
    assert simulate(speed=10e6, round_trip=0.001, step=512 * KIB, seconds=10).rate > 1e6


def test_a_snapshot_larger_than_the_remaining_window_does_not_stop_the_output() -> None:
    now = 0.0
    congestion = CongestionWindow(lambda: now)
    room = 0
    for _ in range(100):  # 25 s: a snapshot of this size takes 15 s on the slowest connection
        room = max(room, congestion.room(212 * KIB, 300 * KIB, 0))
        now += 0.25
    assert room > 0


def test_a_growing_credit_window_does_not_count_as_an_acknowledgement() -> None:
    congestion = CongestionWindow(lambda: 0.0)
    assert congestion.room(0, 0, 0) == 0
    assert congestion.room(512 * KIB, 0, 0) == congestion.limit
    assert congestion.room(512 * KIB, 0, 0, STEP) == congestion.limit + STEP
    assert congestion.room(congestion.limit + 1, 0, 0, STEP) == congestion.limit + 1
    congestion.sent(64 * KIB)
    assert congestion.size == 64 * KIB
