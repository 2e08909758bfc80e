"""`sandbox.watch`, with a connection whose credit the tests set."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest

from hawse.api.sandboxes import SandboxCreate, SandboxUpdate
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, Principal
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.providers.base import SandboxSpec
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.feed import SandboxFeed
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.table import PAGE_ROWS
from hawse_gateway.store.base import ANY_TABLE
from hawse_gateway.store.clock import Clock
from tests.support.clock import ManualClock
from tests.support.providers import ModelProvider
from tests.support.sandboxes import create
from tests.support.stores import CountingStore
from tests.support.waiting import Changes


class Watch:
    """A call, its connection and its client in one: it takes what the stream sends, while it has credit."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []
        self.credit = 1_000_000
        self.changes = Changes()
        self.stream: Any = None
        self.principal = OWNER

    def serve(self, stream: Any) -> None:
        self.stream = stream

    def wake(self) -> None:
        while self.stream.pull(cast(Connection, self), 1, 65_536):
            pass
        self.changes.notify()

    def window(self, ch: int) -> int:
        return self.credit

    def send_event(self, ch: int, name: str, value: Any) -> None:
        self.events.append((name, msgspec.to_builtins(value)))

    @property
    def seen(self) -> list[tuple[str, str | None, str | None]]:
        return [(name, value.get("id"), value.get("state")) for name, value in self.events]

    async def until(self, condition: Callable[[], object]) -> None:
        await self.changes.until(condition)


@pytest.fixture
async def feed(sandboxes: Sandboxes) -> AsyncIterator[SandboxFeed]:
    feed = SandboxFeed(sandboxes)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(feed.run())
        yield feed
        task.cancel()


def watch(feed: SandboxFeed, **labels: str) -> Watch:
    found = Watch()
    feed.serve(cast(ServerCall, found), labels)
    return found


def stopped(id: str) -> SandboxRecord:
    """Return the row of a sandbox that has never run."""
    return SandboxRecord(
        id=id, unit=id, provider="model", spec=SandboxSpec(), wanted="stopped", generation="g", created=Clock().now()
    )


async def test_a_watch_begins_with_what_exists_and_goes_on_with_changes(
    feed: SandboxFeed, sandboxes: Sandboxes
) -> None:
    found = watch(feed)
    await found.until(lambda: ("live", None, None) in found.seen)
    assert found.seen == [("changed", "local", "sleeping"), ("live", None, None)]
    await create(sandboxes, SandboxCreate(id="a"))
    await found.until(lambda: ("changed", "a", "running") in found.seen)
    assert ("changed", "a", "starting") in found.seen
    await sandboxes.delete("a")
    await found.until(lambda: ("deleted", "a", None) in found.seen)


async def test_a_start_is_shown_with_its_phase(
    feed: SandboxFeed, sandboxes: Sandboxes, provider: ModelProvider
) -> None:
    found = watch(feed)
    provider.holds["start"] = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(create(sandboxes, SandboxCreate(id="a")))
        await found.until(lambda: any(value.get("phase") == "starting" for _, value in found.events))
        provider.holds["start"].set()


async def test_a_client_that_does_not_read_gets_the_latest_state_only(feed: SandboxFeed, sandboxes: Sandboxes) -> None:
    found, other = watch(feed), watch(feed)
    await found.until(lambda: ("live", None, None) in found.seen)
    found.credit = 0
    found.events.clear()
    await create(sandboxes, SandboxCreate(id="a"))
    await sandboxes.stop("a")
    await create(sandboxes, SandboxCreate(id="b"))
    await sandboxes.delete("b")
    await other.until(lambda: ("deleted", "b", None) in other.seen)
    assert found.events == []
    found.credit = 1_000_000
    found.wake()
    assert found.seen == [("changed", "a", "stopped")]


async def test_a_watch_omits_sandboxes_in_which_the_caller_has_no_right(
    feed: SandboxFeed, sandboxes: Sandboxes
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    found = Watch()
    found.principal = Principal(id="eve", name="", kind="user", rights=("view/a@main",))
    feed.serve(cast(ServerCall, found), {})
    await found.until(lambda: ("live", None, None) in found.seen)
    assert found.seen == [("changed", "a", "running"), ("live", None, None)]


async def test_a_watch_with_labels_sees_those_that_have_them(feed: SandboxFeed, sandboxes: Sandboxes) -> None:
    found = watch(feed, team="x")
    await found.until(lambda: found.seen == [("live", None, None)])
    await create(sandboxes, SandboxCreate(id="a", labels={"team": "x"}))
    await create(sandboxes, SandboxCreate(id="b", labels={"team": "y"}))
    await sandboxes.update(SandboxUpdate(id="a", labels={"team": None}))
    await found.until(lambda: ("deleted", "a", None) in found.seen)
    assert "b" not in {id for _, id, _ in found.seen}


async def test_a_change_is_read_by_its_key_also_if_the_unit_came_from_a_pool(
    tmp_path: Path, provider: ModelProvider, clock: ManualClock
) -> None:
    store = CountingStore(tmp_path / "store.db")
    sandboxes = Sandboxes(store, {"model": provider}, clock=clock.clock, sweep=3600, pool=1)
    async with sandboxes.running(), asyncio.TaskGroup() as tasks:
        await sandboxes.sweep()
        feed = SandboxFeed(sandboxes)
        task = tasks.create_task(feed.run())
        found = watch(feed)
        await found.until(lambda: ("live", None, None) in found.seen)
        info = await create(sandboxes, SandboxCreate(id="a"))
        assert [info.runtime] in provider.running.values()
        assert "a" not in provider.running, "its unit is a member of the pool"
        await found.until(lambda: ("changed", "a", "running") in found.seen)
        await sandboxes.sweep()  # the pool is being filled again
        before = store.scans
        await sandboxes.stop("a")
        await found.until(lambda: found.seen[-1] == ("changed", "a", "stopped"))
        await sandboxes.start("a")
        await found.until(lambda: found.seen[-1] == ("changed", "a", "running"))
        assert store.scans == before
        task.cancel()


async def test_a_watch_that_starts_later_or_after_a_lost_connection_to_the_store_is_complete(
    feed: SandboxFeed, sandboxes: Sandboxes
) -> None:
    first = watch(feed)
    await first.until(lambda: ("live", None, None) in first.seen)
    first.stream.detach()
    await create(sandboxes, SandboxCreate(id="a"))  # while nobody watches
    second = watch(feed)
    await second.until(lambda: ("live", None, None) in second.seen)
    assert second.seen == [("changed", "local", "sleeping"), ("changed", "a", "running"), ("live", None, None)]
    for number in range(PAGE_ROWS + 10):  # more at once than are read together
        feed.note(f"unknown-{number}")
    sandboxes.store.notify(ANY_TABLE, "")  # type: ignore[attr-defined]
    await sandboxes.stop("a")
    await second.until(lambda: second.seen[-1] == ("changed", "a", "stopped"))


async def test_a_watch_reads_only_the_rows_its_client_can_see(
    tmp_path: Path, provider: ModelProvider, clock: ManualClock
) -> None:
    store = CountingStore(tmp_path / "store.db")
    await store.write(*(records.new(stopped(f"s{number:04}")) for number in range(3 * PAGE_ROWS)))
    sandboxes = Sandboxes(store, {"model": provider}, clock=clock.clock, sweep=3600)
    async with sandboxes.running(), asyncio.TaskGroup() as tasks:
        feed = SandboxFeed(sandboxes)
        task = tasks.create_task(feed.run())
        await create(sandboxes, SandboxCreate(id="ada.a"), "ada")
        await sandboxes.sweep()  # the first sweep doesn't read rows later
        await sandboxes.index.current(runs=True)
        before, found = store.read, Watch()
        found.principal = Principal(id="ada", name="", kind="user", rights=("operate/~",))
        feed.serve(cast(ServerCall, found), {})
        await found.until(lambda: ("live", None, None) in found.seen)
        assert found.seen == [("changed", "ada.a", "running"), ("live", None, None)]
        assert store.read - before == 2, "the row of the sandbox, and its run"
        every = watch(feed)
        await every.until(lambda: ("live", None, None) in every.seen)
        assert [id for name, id, _ in every.seen if name == "changed"] == [
            "local",
            "ada.a",
            *(f"s{number:04}" for number in range(3 * PAGE_ROWS)),
        ]
        task.cancel()


async def test_a_change_is_reported_to_an_earlier_watch_if_a_later_one_has_read_it_first(
    feed: SandboxFeed, sandboxes: Sandboxes
) -> None:
    await create(sandboxes, SandboxCreate(id="a"))
    first = watch(feed)
    await first.until(lambda: ("live", None, None) in first.seen)
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(sandboxes.stop("a"))
        for _ in range(10):
            second = watch(feed)
            await second.until(lambda: ("live", None, None) in second.seen)  # noqa: B023
    await first.until(lambda: first.seen[-1] == ("changed", "a", "stopped"))


async def test_a_watch_that_has_ended_is_forgotten(feed: SandboxFeed) -> None:
    found = watch(feed)
    await found.until(lambda: found.events)
    found.stream.detach()
    assert feed.watches == 0
