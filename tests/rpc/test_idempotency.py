"""A keyed call runs once; its outcome is kept for a while, and that the key was used for longer."""

import gc
import weakref
from typing import Any, NamedTuple

import pytest

from hawse.rpc import IdempotencyTable, Outcome, fingerprint
from hawse.rpc.call import DIRECT
from hawse.rpc.idempotency import IdempotencyLimits
from hawse.wire import HawseError, Principal
from tests.support.principals import VIEWER

DIGEST = fingerprint("m", b"{}")


LIMITS = IdempotencyLimits(outcomes=3, used_keys=4)


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Caller:
    def __init__(self) -> None:
        self.values: list[Any] = []
        self.errors: list[HawseError] = []

    def __iter__(self) -> Any:
        return iter((self.values.append, self.errors.append))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def table(clock: Clock) -> IdempotencyTable:
    return IdempotencyTable(LIMITS, clock)


def test_a_repeat_joins_the_running_call_and_later_gets_the_stored_outcome(table: IdempotencyTable) -> None:
    assert table.join("k", DIGEST) is None
    outcome = table.begin("k", DIGEST)
    outcome.work = "the work"
    caller, late = Caller(), Caller()
    joined = table.join("k", DIGEST)
    assert joined is outcome
    assert joined.work == "the work"
    joined.notify(*caller)
    assert not caller.values
    outcome.succeed(7)
    assert caller.values == [7]
    stored = table.join("k", DIGEST)
    assert stored is not None
    stored.notify(*late)
    assert late.values == [7]


def test_another_call_with_the_same_key_is_a_conflict(table: IdempotencyTable) -> None:
    table.begin("k", DIGEST)
    for other in (fingerprint("m", b'{"a":1}'), fingerprint("n", b"{}")):
        with pytest.raises(HawseError, match="key_conflict"):
            table.join("k", other)


def test_an_unknown_key_older_than_the_runtime_is_not_run_and_a_younger_one_is(
    table: IdempotencyTable, clock: Clock
) -> None:
    clock.now = 10.0
    assert table.join("young", DIGEST, age=9.0) is None
    with pytest.raises(HawseError, match="outcome_unknown") as caught:
        table.join("old", DIGEST, age=11.0)
    assert caught.value.admitted == "unknown"


def test_of_several_servers_each_runs_no_repeat_of_a_call_that_it_does_not_know(clock: Clock) -> None:
    table = IdempotencyTable(LIMITS, clock, shared=True)
    clock.now = 10.0
    assert table.join("first", DIGEST) is None
    with pytest.raises(HawseError, match="outcome_unknown"):
        table.join("repeat", DIGEST, age=0.0)


def test_a_failure_after_the_work_began_is_stored(table: IdempotencyTable) -> None:
    caller = Caller()
    table.begin("k", DIGEST).fail(HawseError("io_error", admitted="yes"))
    stored = table.join("k", DIGEST)
    assert stored is not None
    stored.notify(*caller)
    assert [error.code for error in caller.errors] == ["io_error"]


def test_a_refusal_before_the_work_began_leaves_the_key_unused(table: IdempotencyTable) -> None:
    caller = Caller()
    outcome = table.begin("k", DIGEST)
    outcome.notify(*caller)
    outcome.fail(HawseError("limit_exceeded"))
    assert [error.code for error in caller.errors] == ["limit_exceeded"]
    assert table.join("k", DIGEST) is None


def test_an_outcome_is_dropped_an_hour_after_it_was_settled(table: IdempotencyTable, clock: Clock) -> None:
    outcome = table.begin("k", DIGEST)
    clock.now = 10 * LIMITS.age
    assert table.join("k", DIGEST) is outcome, "it still runs"
    outcome.succeed(1)
    clock.now += LIMITS.age
    assert table.join("k", DIGEST) is outcome
    clock.now += 1
    with pytest.raises(HawseError, match="outcome_unknown") as unknown:
        table.join("k", DIGEST)
    assert unknown.value.admitted == "yes"


def test_the_numbers_of_outcomes_and_of_used_keys_are_bounded(table: IdempotencyTable) -> None:
    running = table.begin("running", DIGEST)
    for number in range(10):
        table.begin(str(number), DIGEST).succeed(number)
    assert table.join("running", DIGEST) is running
    assert [str(n) for n in range(10) if _state(table, str(n)) == "kept"] == ["7", "8", "9"]
    assert [str(n) for n in range(10) if _state(table, str(n)) == "unknown"] == ["3", "4", "5", "6"]


def _state(table: IdempotencyTable, key: str) -> str:
    try:
        return "kept" if table.join(key, DIGEST) else "new"
    except HawseError:
        return "unknown"


class Call(NamedTuple):
    key: str | None
    method: str = "m"
    age: float | None = None
    principal: Principal = DIRECT


def test_work_is_started_once_for_a_key_and_each_time_without_one(table: IdempotencyTable) -> None:
    started: list[Outcome] = []

    def start(outcome: Outcome) -> int:
        started.append(outcome)
        return len(started)

    assert [table.attach_or_start(Call("k"), {"a": 1}, start) for _ in range(2)] == [1, 1]
    assert [table.attach_or_start(Call(None), {"a": 1}, start) for _ in range(2)] == [2, 3]
    assert [outcome.key for outcome in started] == ["k", None, None]
    with pytest.raises(HawseError, match="key_conflict"):
        table.attach_or_start(Call("k"), {"a": 2}, start)
    for outcome in started:
        outcome.succeed()
    assert table.attach_or_start(Call("k"), {"a": 1}, start) == 1


def test_work_is_freed_with_its_outcome_without_the_garbage_collector(table: IdempotencyTable) -> None:
    class Work:
        def __init__(self, outcome: Outcome) -> None:
            self.outcome = outcome

    gc.disable()
    try:
        started = weakref.ref(table.attach_or_start(Call("first"), {}, Work))
        kept = started()
        assert kept is not None
        kept.outcome.succeed()
        del kept
        assert started() is not None, "it serves repeats"
        for number in range(LIMITS.outcomes):
            table.begin(f"later {number}", DIGEST).succeed()
        assert started() is None
    finally:
        gc.enable()


def test_the_same_key_of_another_principal_is_another_key(table: IdempotencyTable) -> None:
    started: list[Outcome] = []
    for principal in (DIRECT, VIEWER):
        table.attach_or_start(Call("k", principal=principal), {}, started.append)
    assert [outcome.key for outcome in started] == ["k", "k"]


def test_work_that_failed_gives_its_error_to_repeats(table: IdempotencyTable) -> None:
    failed = HawseError("io_error", "broken", admitted="yes")
    outcomes: list[Outcome] = []
    table.attach_or_start(Call("k"), {}, outcomes.append)
    outcomes[0].fail(failed)
    with pytest.raises(HawseError) as raised:
        table.attach_or_start(Call("k"), {}, outcomes.append)
    assert raised.value is failed


def test_a_key_is_unused_if_its_work_could_not_be_started(table: IdempotencyTable) -> None:
    def refuse(outcome: Outcome) -> None:
        outcome.fail(HawseError("limit_exceeded", "full"))
        raise HawseError("limit_exceeded", "full")

    for _ in range(2):
        with pytest.raises(HawseError, match="limit_exceeded"):
            table.attach_or_start(Call("k"), {}, refuse)
    assert table.attach_or_start(Call("k"), {}, lambda outcome: "work") == "work"
