import asyncio
import itertools
import tracemalloc
from collections.abc import AsyncIterator

import pytest

from hawse.wire import HawseError
from hawse_gateway.providers.kubernetes.informer import Change, ExpiredError, Informer
from hawse_gateway.providers.kubernetes.objects import PODS, ObjectSummary
from tests.support.kubernetes_api import described_pod
from tests.support.waiting import TIMEOUT

Step = tuple[str, str] | Exception
END = ("END", "")  # the cluster ends the watch


def summary(text: str) -> ObjectSummary:
    """Return the object `name=uid`."""
    name, _, uid = text.partition("=")
    return ObjectSummary(name, uid, name, ending=False)


def texts(objects: dict[str, ObjectSummary]) -> set[str]:
    return {f"{name}={each.uid}" for name, each in objects.items()}


class Source:
    """Pages of objects, and a script of the changes that the cluster reports on each watch.

    The versions are 1, 2, 3, … for lists and changes together.
    """

    kind = "names"

    def __init__(self, *scripts: list[Step]) -> None:
        self.scripts = list(scripts)
        self.listing: list[list[str]] = [[]]
        self.lists = 0
        self.refusals = 0
        self.watched: list[str] = []
        self.version = 0

    def next_version(self) -> str:
        self.version += 1
        return str(self.version)

    async def pages(self) -> AsyncIterator[tuple[str, list[ObjectSummary]]]:
        self.lists += 1
        if self.refusals:
            self.refusals -= 1
            raise HawseError("unavailable", "the cluster cannot be reached")
        version = self.next_version()
        for page in self.listing:
            yield version, [summary(text) for text in page]

    async def watch(self, version: str) -> AsyncIterator[Change[ObjectSummary]]:
        self.watched.append(version)
        yield Change("BOOKMARK", version)
        for step in self.scripts.pop(0) if self.scripts else []:
            if isinstance(step, Exception):
                raise step
            if step == END:
                return
            change, text = step
            yield Change(change, self.next_version(), summary(text) if text else None)
        await asyncio.Event().wait()


async def followed(source: Source, *goal: str, resync: float = 1000.0) -> Informer[ObjectSummary]:
    """Run an informer until it has these objects."""
    informer = Informer(source, resync)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.until(lambda: texts(informer.objects) == set(goal) or None)
        task.cancel()
    return informer


async def test_changes_follow_the_list() -> None:
    source = Source([("ADDED", "b=1"), ("MODIFIED", "a=2"), ("DELETED", "c=1")])
    source.listing = [["a=1"], ["c=1"]]
    informer = await followed(source, "a=2", "b=1")
    assert (informer.listed, informer.current, source.watched) == (True, True, ["1"])
    assert texts(informer.removed) == {"c=1"}


async def test_objects_missing_from_a_list_were_removed_but_their_successors_were_not() -> None:
    class Later(Source):
        async def pages(self) -> AsyncIterator[tuple[str, list[ObjectSummary]]]:
            self.listing = [["a=2"]] if self.lists else [["a=1"], ["b=1"]]
            async for page in super().pages():
                yield page

    informer = await followed(Later([("DELETED", "a=1"), ExpiredError()], [("ADDED", "c=1")]), "a=2", "c=1")
    assert texts(informer.removed) == {"b=1"}


@pytest.mark.parametrize("end", [END, HawseError("unavailable", "the connection was lost")], ids=["ended", "lost"])
async def test_a_watch_continues_after_the_latest_version_without_a_list(end: Step) -> None:
    source = Source([("ADDED", "a=1"), ("BOOKMARK", ""), end], [("ADDED", "c=1")])
    source.listing = [["b=1"]]
    await followed(source, "a=1", "b=1", "c=1")
    assert (source.lists, source.watched) == (1, ["1", "3"])


async def test_everything_is_listed_again_if_the_version_has_expired() -> None:
    source = Source([("ADDED", "a=1"), ExpiredError()], [("ADDED", "c=1")])
    source.listing = [["b=1"]]
    await followed(source, "b=1", "c=1")
    assert source.watched == ["1", "3"]


async def test_a_list_that_expires_between_two_pages_is_repeated() -> None:
    class Expiring(Source):
        async def pages(self) -> AsyncIterator[tuple[str, list[ObjectSummary]]]:
            async for page in super().pages():
                yield page
                if self.lists == 1:
                    raise ExpiredError

    source = Expiring()
    source.listing = [["a=1"], ["b=1"]]
    await followed(source, "a=1", "b=1")
    assert (source.lists, source.watched) == (2, ["2"])


async def test_a_change_during_the_list_is_repeated_by_the_watch() -> None:
    """An object that is deleted after its page was read is still in the list."""

    class Changing(Source):
        async def pages(self) -> AsyncIterator[tuple[str, list[ObjectSummary]]]:
            async for version, page in super().pages():
                yield version, page
                if not self.scripts:
                    self.scripts = [[("DELETED", "a=1"), ("ADDED", "c=1")]]

    source = Changing()
    source.listing = [["a=1"], ["b=1"]]
    informer = await followed(source, "b=1", "c=1")
    assert source.watched == ["1"]
    assert texts(informer.removed) == {"a=1"}


async def test_an_object_that_cannot_be_read_changes_nothing() -> None:
    await followed(Source([("MODIFIED", ""), ("ADDED", "b=1")]), "b=1")


@pytest.mark.parametrize("problem", [ExpiredError(), HawseError("unavailable", "watch is forbidden")])
async def test_a_cluster_that_refuses_to_watch_is_asked_less_and_less(problem: Exception) -> None:
    class Unwatched(Source):
        def __init__(self) -> None:
            super().__init__()
            self.times: list[float] = []

        async def watch(self, version: str) -> AsyncIterator[Change[ObjectSummary]]:
            self.times.append(asyncio.get_running_loop().time())
            raise problem
            yield Change("BOOKMARK", version)

    source = Unwatched()
    informer = Informer(source)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.until(lambda: len(source.times) == 5 or None)
        task.cancel()
    pauses = [later - earlier for earlier, later in itertools.pairwise(source.times)]
    assert all(pause >= least for pause, least in zip(pauses, (0.09, 0.19, 0.39, 0.79), strict=True)), pauses


async def test_while_the_cluster_cannot_be_reached_the_last_objects_are_kept() -> None:
    source = Source([("ADDED", "a=1"), ExpiredError()])
    informer = Informer(source)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.until(lambda: informer.objects or None)
        source.refusals = 1
        await informer.until(lambda: not informer.current or None)
        assert texts(informer.objects) == {"a=1"}
        await informer.until(lambda: informer.current or None)
        assert informer.objects == {}
        task.cancel()


async def test_objects_are_listed_again_from_time_to_time() -> None:
    source = Source([END], [END], [END])
    informer = Informer(source, 0.0)
    async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
        task = tasks.create_task(informer.run())
        await informer.changed()
        source.listing = [["unreported=1"]]
        await informer.until(lambda: informer.objects or None)
        task.cancel()


class PodPages:
    """Pods of a realistic size, decoded from JSON when they are listed and when they change."""

    kind = "pods"

    def __init__(self, count: int) -> None:
        self.count = count

    async def pages(self) -> AsyncIterator[tuple[str, list[ObjectSummary]]]:
        for start in range(0, self.count, 100):
            yield "1", [PODS.read(described_pod(number))[1] for number in range(start, min(start + 100, self.count))]

    async def watch(self, version: str) -> AsyncIterator[Change[ObjectSummary]]:
        yield Change("BOOKMARK", version)
        for number in range(self.count):
            yield Change("MODIFIED", *PODS.read(described_pod(number, ready=False)))
        yield Change("BOOKMARK", "end")
        await asyncio.Event().wait()


async def test_a_pod_needs_less_than_one_kibibyte_even_after_a_change() -> None:
    count = 1000
    informer = Informer(PodPages(count))
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        async with asyncio.timeout(TIMEOUT), asyncio.TaskGroup() as tasks:
            task = tasks.create_task(informer.run())
            await informer.until(lambda: len(informer.objects) == count or None)
            listed = tracemalloc.get_traced_memory()[0] - before
            last = PODS.read(described_pod(count - 1, ready=False))[1]
            await informer.until(lambda: informer.objects[last.name] == last or None)
            changed = tracemalloc.get_traced_memory()[0] - before
            task.cancel()
    finally:
        tracemalloc.stop()
    assert max(listed, changed) / count < 1024
