"""The registry: ids, instances, limits, and what is retained of items that have ended."""

import asyncio
import logging
from dataclasses import dataclass

import pytest

from hawse.wire import HawseError
from hawse_runtime.core.registry import Registry, Retention
from tests.support.waiting import TIMEOUT


@dataclass(eq=False)
class Item:
    id: str
    instance: str = "i1"


def registry(*, limit: int | None = None, count: int = 100, age: float | None = None) -> tuple[Registry[Item], list]:
    """A registry, and the list of the items that it dropped."""
    dropped: list[Item] = []
    return Registry("thing", limit=limit, retention=Retention(count, age), on_drop=dropped.append), dropped


def code(error: pytest.ExceptionInfo[HawseError]) -> str:
    return error.value.code


def test_an_item_is_found_by_id_and_instance() -> None:
    things, _ = registry()
    item = Item("a")
    things.add(item)
    assert things.get("a") is things.get("a", "i1") is things.find("a") is item
    assert things.find("b") is None
    with pytest.raises(HawseError) as error:
        things.get("b")
    assert (code(error), error.value.message) == ("not_found", "thing b does not exist")
    with pytest.raises(HawseError) as error:
        things.get("a", "i0")
    assert code(error) == "stale_handle"
    assert "i0" in error.value.message


def test_an_ended_item_can_be_found_and_its_id_used_again() -> None:
    things, dropped = registry()
    first, second = Item("a"), Item("a", "i2")
    things.add(first)
    things.end(first)
    assert things.get("a") is first
    assert (things.running_count, len(things)) == (0, 1)
    with things.reserve("a"):
        things.add(second)
    assert dropped == [first]
    assert things.running == [second] == list(things)
    things.end(first)  # late: another item has its id
    assert things.running == [second]


def test_a_running_or_reserved_id_is_refused() -> None:
    things, _ = registry()
    things.add(Item("a"))
    with pytest.raises(HawseError) as error, things.reserve("a"):
        pass
    assert (code(error), error.value.details) == ("conflict", {"instance": "i1"})
    with things.reserve("b"), pytest.raises(HawseError) as error, things.reserve("b"):
        pass
    assert code(error) == "conflict"
    with things.reserve("b"):  # a start that failed leaves the id free
        pass


def test_running_and_reserved_items_count_against_the_limit() -> None:
    things, _ = registry(limit=2)
    things.add(Item("a"))
    with things.reserve("b"), pytest.raises(HawseError) as error, things.reserve("c"):
        pass
    assert code(error) == "limit_exceeded"
    things.end(things.get("a"))
    with things.reserve("b"), things.reserve("c"):
        pass


def test_the_latest_ended_items_are_retained() -> None:
    things, dropped = registry(count=2)
    items = [Item(str(number)) for number in range(5)]
    for item in items:
        things.add(item)
    for item in reversed(items[1:]):
        things.end(item)
    assert dropped == [items[4], items[3]]
    assert list(things) == items[:3]
    assert things.running == [items[0]]


async def test_an_ended_item_is_dropped_at_its_age() -> None:
    dropped = asyncio.Event()
    things: Registry[Item] = Registry("thing", retention=Retention(age=0.01), on_drop=lambda _: dropped.set())
    things.add(Item("runs"))
    item = Item("a")
    things.add(item)
    things.end(item)
    assert things.find("a") is item
    async with asyncio.timeout(TIMEOUT):
        await dropped.wait()
    assert [item.id for item in things] == ["runs"]
    await things.close()


async def test_an_item_that_is_used_again_is_kept() -> None:
    things, dropped = registry(count=1)
    first, second = Item("a"), Item("b")
    for item in (first, second):
        things.add(item)
    things.end(first)
    things.resume(first)
    things.end(second)
    assert things.running == [first]
    things.end(first)
    assert dropped == [second]


def test_room_can_be_made_by_hand() -> None:
    things, dropped = registry()
    first, second = Item("a"), Item("b")
    things.add(first)
    things.add(second)
    assert not things.drop_oldest_ended()
    things.end(second)
    things.end(first)
    assert things.drop_oldest_ended()
    assert dropped == [second]
    things.drop(second)
    assert dropped == [second], "an item is dropped once"


async def test_close_ends_what_runs_and_drops_everything(caplog: pytest.LogCaptureFixture) -> None:
    things, dropped = registry(age=60.0)
    for name in "abc":
        things.add(Item(name))
    things.end(things.get("a"))
    ended = []

    async def end(item: Item) -> None:
        ended.append(item.id)
        if item.id == "b":
            raise HawseError("permission_denied", "it resists")

    with caplog.at_level(logging.ERROR):
        await things.close(end)
    assert ended == ["b", "c"]
    assert [item.id for item in dropped] == ["a", "b", "c"]
    assert "cannot end thing b: permission_denied" in caplog.text
    assert not len(things)


def test_ten_thousand_items_come_and_go_in_constant_time_each() -> None:
    """A plain dict whose first keys are deleted is searched from its start each time."""
    things, dropped = registry(count=10)
    for number in range(10_000):
        item = Item(str(number))
        things.add(item)
        things.end(item)
    assert len(things) == 10
    assert len(dropped) == 9_990


def test_an_item_that_is_removed_is_not_dropped() -> None:
    things, dropped = registry()
    item = Item("a")
    things.add(item)
    things.end(item)
    assert things.remove(item)
    assert not things.remove(item)
    assert (things.find("a"), dropped, len(things), things.drop_oldest_ended()) == (None, [], 0, False)
