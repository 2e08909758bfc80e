"""Which sandboxes need attention, and when."""

import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.overview.agenda import Agenda, DueTimes
from hawse_gateway.sandboxes.overview.index import Listener, SandboxIndex
from hawse_gateway.sandboxes.records import Run, SandboxRecord
from hawse_gateway.store.clock import Moment
from tests.support.clock import ManualClock
from tests.support.stores import MemoryStore


def sandbox(clock: ManualClock, **fields: Any) -> SandboxRecord:
    given: dict[str, Any] = {"id": "a", "unit": "a", "wanted": "running", "generation": "g"}
    return SandboxRecord(provider="p", spec=SandboxSpec(), created=clock.clock.now(), **(given | fields))


def run(clock: ManualClock, **fields: Any) -> Run:
    given: dict[str, Any] = {"unit": "a", "sandbox": "a", "generation": "g", "state": "running"}
    return Run(provider="p", runtime="r", since=clock.clock.now(), **(given | fields))


async def put(store: MemoryStore, index: SandboxIndex, *values: SandboxRecord | Run) -> None:
    for value in values:
        change = records.new(value)
        store.put(change.table, change.key, change.value)
        store.notify(change.table, change.key)
    await index.current(runs=True)


@pytest.mark.parametrize("seed", range(10))
def test_due_times_agree_with_a_comparison_of_all(seed: int) -> None:
    choice, clock = random.Random(seed), ManualClock()
    times, plain = DueTimes(clock.clock), dict[str, Moment]()
    for _ in range(500):
        id, wait = f"s{choice.randrange(30)}", choice.choice([-1.0, 0.0, 5.0, 50.0])
        moment = Moment(clock.wall + wait, choice.choice(["a boot", "another"]), clock.uptime + wait)
        match choice.randrange(4):
            case 0 | 1:
                times.set(id, moment)
                plain[id] = moment
            case 2:
                times.discard(id)
                plain.pop(id, None)
            case 3:
                clock.advance(choice.choice([0.0, 1.0, 10.0]))
                clock.wall += choice.choice([0.0, 30.0, -30.0])
        assert sorted(times.due()) == sorted(id for id, at in plain.items() if clock.clock.until(at) <= 0)
        assert len(times) == len(plain)


async def test_sandboxes_that_have_not_reached_their_wanted_state_are_unsettled() -> None:
    store, clock = MemoryStore(), ManualClock()
    index = SandboxIndex(store)
    agenda = Agenda(index, clock.clock)
    async with index.running():
        await put(store, index, sandbox(clock))
        assert agenda.unsettled == {"a"}
        await put(store, index, run(clock))
        assert (agenda.unsettled, agenda.live) == (set(), {"p": {"a"}})
        await put(store, index, sandbox(clock, wanted="stopped"))
        assert (agenda.unsettled, agenda.live) == ({"a"}, {"p": set()})
        await put(store, index, sandbox(clock, generation="later"))
        assert agenda.unsettled == {"a"}, "it is the run of a deleted sandbox"


async def test_a_run_without_a_sandbox_is_unsettled_unless_a_sandbox_has_claimed_its_unit() -> None:
    store, clock = MemoryStore(), ManualClock()
    index = SandboxIndex(store)
    agenda = Agenda(index, clock.clock)
    async with index.running():
        await put(store, index, run(clock, unit="p-1", sandbox="p-1"))
        assert agenda.unsettled == {"p-1"}
        await put(store, index, sandbox(clock, id="b", unit="p-1"), run(clock, unit="p-1", sandbox="b"))
        assert (agenda.unsettled, agenda.live["p"]) == (set(), {"p-1"})
        del store.tables["sandboxes"]["b"]
        store.notify("sandboxes", "b")
        await index.current(runs=True)
        assert (agenda.unsettled, agenda.live["p"]) == ({"p-1"}, set())


class Heard(SandboxIndex):
    """Keeps its listeners, so that a test can choose the order of reports."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__(store)
        self.heard: list[Listener] = []

    def listen(self, listener: Listener) -> Callable[[], None]:
        self.heard.append(listener)
        return super().listen(listener)


@pytest.mark.parametrize("order", [("b", "p-1"), ("p-1", "b")])
async def test_a_claimed_unit_stays_live_in_whatever_order_its_names_are_reported(order: tuple[str, str]) -> None:
    store, clock = MemoryStore(), ManualClock()
    index = Heard(store)
    agenda = Agenda(index, clock.clock)
    async with index.running():
        await put(store, index, sandbox(clock, id="b", unit="p-1"), run(clock, unit="p-1", sandbox="b"))
        for name in order:
            for listener in index.heard:
                listener(name)
        assert (agenda.unsettled, agenda.live) == (set(), {"p": {"p-1"}})


async def test_a_unit_is_live_only_at_the_provider_of_its_run() -> None:
    store, clock = MemoryStore(), ManualClock()
    index = SandboxIndex(store)
    agenda = Agenda(index, clock.clock)
    async with index.running():
        await put(store, index, sandbox(clock), run(clock))
        await put(store, index, msgspec.structs.replace(run(clock), provider="other"))
        assert agenda.live == {"p": set(), "other": {"a"}}


async def test_sandboxes_become_due_in_time_and_follow_updates() -> None:
    store, clock = MemoryStore(), ManualClock()
    index = SandboxIndex(store)
    agenda = Agenda(index, clock.clock)
    async with index.running():
        expires = clock.clock.now().after(100.0)
        await put(store, index, sandbox(clock, expires=expires, idle_timeout=50.0), run(clock))
        clock.advance(51.0)
        assert (agenda.expiring.due(), agenda.idle.due()) == ([], ["a"])
        agenda.idle.set("a", clock.clock.now().after(40.0))
        await put(store, index, sandbox(clock, expires=expires, idle_timeout=45.0))
        assert agenda.idle.due() == [], "it is asked when it was found to be due"
        await put(store, index, sandbox(clock, expires=expires, idle_timeout=10.0))
        assert agenda.idle.due() == ["a"], "its timeout is shorter now"
        clock.advance(50.0)
        assert agenda.expiring.due() == ["a"]
        await put(store, index, sandbox(clock, wanted="deleted", expires=expires))
        assert (agenda.expiring.due(), agenda.idle.due()) == ([], [])


async def test_a_sandbox_whose_start_lies_in_the_future_may_be_idle() -> None:
    store, clock, ahead = MemoryStore(), ManualClock(), ManualClock("another machine")
    ahead.advance(3600.0)
    index = SandboxIndex(store)
    agenda = Agenda(index, clock.clock)
    async with index.running():
        await put(store, index, sandbox(clock, idle_timeout=50.0), run(ahead))
        assert agenda.idle.due() == ["a"]
