import asyncio
import itertools
from collections.abc import AsyncIterator

import pytest

from hawse.wire import HawseError
from hawse_gateway.providers.kubernetes.informer import ExpiredError, Informer
from tests.support.waiting import TIMEOUT

Change = tuple[str, str] | Exception


class Source:
    """Names of objects, and a script of what the cluster reports after each list."""

    kind = "names"

    def __init__(self, *scripts: list[Change]) -> None:
        self.scripts = list(scripts)
        self.names: list[str] = []
        self.lists = 0
        self.refusals = 0
        self.versions: list[str] = []

    def name(self, each: str) -> str:
        return each.partition("=")[0]

    async def list(self) -> tuple[list[str], str]:
        self.lists += 1
        if self.refusals:
            self.refusals -= 1
            raise HawseError("unavailable", "the cluster cannot be reached")
        return list(self.names), f"v{self.lists}"

    async def watch(self, version: str) -> AsyncIterator[tuple[str, str]]:
        self.versions.append(version)
        for change in self.scripts.pop(0) if self.scripts else []:
            if isinstance(change, Exception):
                raise change
            yield change
        await asyncio.Event().wait()


async def followed(source: Source, goal: set[str], resync: float = 1000.0) -> Informer[str]:
    """Run an informer until it has these objects."""
    informer = Informer(source, resync)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.until(lambda: set(informer.objects.values()) == goal or None)
        task.cancel()
    return informer


async def test_changes_follow_the_list() -> None:
    source = Source([("ADDED", "b=1"), ("MODIFIED", "a=2"), ("DELETED", "c=1")])
    source.names = ["a=1", "c=1"]
    informer = await followed(source, {"a=2", "b=1"})
    assert (informer.listed, informer.current, source.versions) == (True, True, ["v1"])
    assert informer.removed == {"c": "c=1"}


async def test_objects_missing_from_a_list_were_removed_but_their_successors_were_not() -> None:
    class Later(Source):
        async def list(self) -> tuple[list[str], str]:
            self.names = ["a=2"] if self.lists else ["a=1", "b=1"]
            return await super().list()

    informer = await followed(Later([("DELETED", "a=1"), ExpiredError()], [("ADDED", "c=1")]), {"a=2", "c=1"})
    assert informer.removed == {"b": "b=1"}


@pytest.mark.parametrize("problem", [ExpiredError(), HawseError("unavailable", "the connection was lost")])
async def test_after_a_gap_everything_is_listed_again(problem: Exception) -> None:
    source = Source([("ADDED", "a=1"), problem], [("ADDED", "c=1")])
    source.names = ["b=1"]
    await followed(source, {"b=1", "c=1"})
    assert source.versions == ["v1", "v2"]


@pytest.mark.parametrize("problem", [ExpiredError(), HawseError("unavailable", "watch is forbidden")])
async def test_a_cluster_that_lists_and_refuses_to_watch_is_asked_less_and_less(problem: Exception) -> None:
    class Unwatched(Source):
        def __init__(self) -> None:
            super().__init__()
            self.times: list[float] = []

        async def list(self) -> tuple[list[str], str]:
            self.times.append(asyncio.get_running_loop().time())
            self.scripts = [[problem]]
            return await super().list()

    source = Unwatched()
    informer = Informer(source)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.until(lambda: source.lists == 5 or None)
        task.cancel()
    pauses = [later - earlier for earlier, later in itertools.pairwise(source.times)]
    assert all(pause >= least for pause, least in zip(pauses, (0.09, 0.19, 0.39, 0.79), strict=True)), pauses


async def test_while_the_cluster_cannot_be_reached_the_last_objects_are_kept() -> None:
    source = Source([("ADDED", "a=1"), HawseError("unavailable", "lost")])
    informer = Informer(source)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.until(lambda: informer.objects or None)
        source.refusals = 1
        await informer.until(lambda: not informer.current or None)
        assert informer.objects == {"a": "a=1"}
        await informer.until(lambda: informer.current or None)
        assert informer.objects == {}
        task.cancel()


async def test_objects_are_listed_again_from_time_to_time() -> None:
    source = Source()
    informer = Informer(source, 0.01)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.changed()
        source.names = ["unreported=1"]
        await informer.until(lambda: informer.objects or None)
        task.cancel()
