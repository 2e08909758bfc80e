"""A key runs once; its outcome is kept for a while, and its use for longer."""

from typing import Any, NamedTuple

import pytest

from hawse.rpc import IdempotencyTable, Outcome, fingerprint
from hawse.rpc import idempotency as outcomes
from hawse.wire import HawseError

MARK = fingerprint("m", b"{}")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Told:
    def __init__(self) -> None:
        self.values: list[Any] = []
        self.errors: list[HawseError] = []

    def __iter__(self) -> Any:
        return iter((self.values.append, self.errors.append))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def kept(clock: Clock) -> IdempotencyTable:
    return IdempotencyTable(clock)


def test_a_repeat_joins_what_runs_and_then_gets_what_is_stored(kept: IdempotencyTable) -> None:
    assert kept.join("k", MARK) is None
    outcome = kept.begin("k", MARK, work="the work")
    told, late = Told(), Told()
    joined = kept.join("k", MARK)
    assert joined is outcome
    assert joined.work == "the work"
    joined.notify(*told)
    assert not told.values
    outcome.succeed(7)
    assert told.values == [7]
    stored = kept.join("k", MARK)
    assert stored is not None
    stored.notify(*late)
    assert late.values == [7]


def test_another_call_with_the_same_key_is_a_conflict(kept: IdempotencyTable) -> None:
    kept.begin("k", MARK)
    for other in (fingerprint("m", b'{"a":1}'), fingerprint("n", b"{}")):
        with pytest.raises(HawseError, match="key_conflict"):
            kept.join("k", other)


def test_an_unknown_key_older_than_the_runtime_is_not_run_and_a_younger_one_is(
    kept: IdempotencyTable, clock: Clock
) -> None:
    clock.now = 10.0
    assert kept.join("young", MARK, age=9.0) is None
    with pytest.raises(HawseError, match="outcome_unknown") as caught:
        kept.join("old", MARK, age=11.0)
    assert caught.value.admitted == "unknown"


def test_a_failure_after_the_work_began_is_stored(kept: IdempotencyTable) -> None:
    told = Told()
    kept.begin("k", MARK).fail(HawseError("io_error", admitted="yes"))
    stored = kept.join("k", MARK)
    assert stored is not None
    stored.notify(*told)
    assert [error.code for error in told.errors] == ["io_error"]


def test_a_refusal_before_the_work_began_leaves_the_key_unused(kept: IdempotencyTable) -> None:
    told = Told()
    outcome = kept.begin("k", MARK)
    outcome.notify(*told)
    outcome.fail(HawseError("limit_exceeded"))
    assert [error.code for error in told.errors] == ["limit_exceeded"]
    assert kept.join("k", MARK) is None


def test_after_an_hour_from_its_end_an_outcome_is_unknown(kept: IdempotencyTable, clock: Clock) -> None:
    outcome = kept.begin("k", MARK)
    clock.now = 10 * outcomes.KEPT_FOR
    assert kept.join("k", MARK) is outcome, "it still runs"
    outcome.succeed(1)
    clock.now += outcomes.KEPT_FOR
    assert kept.join("k", MARK) is outcome
    clock.now += 1
    with pytest.raises(HawseError, match="outcome_unknown") as unknown:
        kept.join("k", MARK)
    assert unknown.value.admitted == "yes"


def test_outcomes_are_bounded_in_number_and_so_are_the_keys(
    kept: IdempotencyTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(outcomes, "KEPT", 3)
    monkeypatch.setattr(outcomes, "REMEMBERED", 4)
    running = kept.begin("running", MARK)
    for number in range(10):
        kept.begin(str(number), MARK).succeed(number)
    assert kept.join("running", MARK) is running
    assert [str(n) for n in range(10) if _state(kept, str(n)) == "kept"] == ["7", "8", "9"]
    assert [str(n) for n in range(10) if _state(kept, str(n)) == "unknown"] == ["3", "4", "5", "6"]


def _state(kept: IdempotencyTable, key: str) -> str:
    try:
        return "kept" if kept.join(key, MARK) else "new"
    except HawseError:
        return "unknown"


class Call(NamedTuple):
    key: str | None
    method: str = "m"
    age: float | None = None


def test_work_is_started_once_for_a_key_and_each_time_without_one(kept: IdempotencyTable) -> None:
    started: list[Outcome] = []

    def start(outcome: Outcome) -> int:
        started.append(outcome)
        return len(started)

    assert [kept.attach_or_start(Call("k"), {"a": 1}, start) for _ in range(2)] == [1, 1]
    assert [kept.attach_or_start(Call(None), {"a": 1}, start) for _ in range(2)] == [2, 3]
    assert [outcome.key for outcome in started] == ["k", None, None]
    with pytest.raises(HawseError, match="key_conflict"):
        kept.attach_or_start(Call("k"), {"a": 2}, start)
    for outcome in started:
        outcome.succeed()
    assert kept.attach_or_start(Call("k"), {"a": 1}, start) == 1


def test_work_that_failed_gives_its_error_to_repeats(kept: IdempotencyTable) -> None:
    failed = HawseError("io_error", "broken", admitted="yes")
    outcomes_: list[Outcome] = []
    kept.attach_or_start(Call("k"), {}, outcomes_.append)
    outcomes_[0].fail(failed)
    with pytest.raises(HawseError) as raised:
        kept.attach_or_start(Call("k"), {}, outcomes_.append)
    assert raised.value is failed


def test_a_key_is_unused_if_its_work_could_not_be_started(kept: IdempotencyTable) -> None:
    def refuse(outcome: Outcome) -> None:
        outcome.fail(HawseError("limit_exceeded", "full"))
        raise HawseError("limit_exceeded", "full")

    for _ in range(2):
        with pytest.raises(HawseError, match="limit_exceeded"):
            kept.attach_or_start(Call("k"), {}, refuse)
    assert kept.attach_or_start(Call("k"), {}, lambda outcome: "work") == "work"
