"""Work that several calls share."""

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from hawse.rpc.call import ServerCall
from hawse.rpc.shared_work import SharedWork, WorkStream
from hawse.wire import Connection, HawseError
from tests.support.waiting import Changes


class Job(Changes):
    """Work that reports its progress and waits until it is told how to end."""

    def __init__(self) -> None:
        super().__init__()
        self.report: Callable[[str], None] = lambda progress: None
        self.started = self.cancelled = False
        self.end: object = None

    async def run(self, report: Callable[[str], None]) -> object:
        self.report, self.started = report, True
        self.notify()
        try:
            await self.until(lambda: self.end is not None)
        except asyncio.CancelledError:
            self.cancelled = True
            self.notify()
            raise
        if isinstance(self.end, Exception):
            raise self.end
        return self.end

    def finish(self, end: object) -> None:
        self.end = end
        self.notify()


class Call(Changes):
    """A call, its connection and its client in one."""

    def __init__(self, work: SharedWork[str], credit: int = 1000) -> None:
        super().__init__()
        self.seen: list[object] = []
        self.credit = credit
        self.open = True
        self.stream = WorkStream(cast(ServerCall, self), work)

    def wake(self) -> None:
        self.stream.pull(cast(Connection, self), 1, 65_536)

    def window(self, ch: int) -> int:
        return self.credit

    def send_event(self, ch: int, name: str, value: Any) -> None:
        self.seen.append({name: value})

    def result(self, value: Any) -> None:
        self._end(value)

    def error(self, error: HawseError) -> None:
        self._end(error.code)

    def _end(self, outcome: object) -> None:
        self.seen.append(outcome)
        self.leave()
        self.notify()

    def leave(self) -> None:
        self.open = False
        self.stream.detach()


async def test_all_calls_get_the_latest_progress_and_the_result() -> None:
    job, ends = Job(), list[object]()
    async with asyncio.TaskGroup() as tasks:
        work = SharedWork(tasks, job.run, name="job", on_end=ends.append)
        first, slow = Call(work), Call(work, credit=0)
        await job.until(lambda: job.started)
        job.report("a")
        job.report("b")
        slow.credit = 1
        slow.wake()
        job.finish("done")
    assert first.seen == [{"progress": "a"}, {"progress": "b"}, "done"]
    assert slow.seen == [{"progress": "b"}, "done"]
    assert ends == ["done"]
    assert not work.joinable


@pytest.mark.parametrize(("error", "code"), [(HawseError("conflict"), "conflict"), (FileNotFoundError(), "not_found")])
async def test_a_failure_is_the_error_of_all_calls(error: Exception, code: str) -> None:
    job = Job()
    job.finish(error)
    async with asyncio.TaskGroup() as tasks:
        work = SharedWork(tasks, job.run, name="job")
        calls = [Call(work), Call(work)]
    assert [call.seen for call in calls] == [[code], [code]]


async def test_the_work_is_cancelled_when_its_last_call_leaves() -> None:
    job, ends = Job(), list[HawseError]()
    async with asyncio.TaskGroup() as tasks:
        work = SharedWork(tasks, job.run, name="job", on_end=ends.append)
        first, second = Call(work), Call(work)
        await job.until(lambda: job.started)
        first.leave()
        assert work.joinable
        second.leave()
        assert not work.joinable
    assert job.cancelled
    assert [(error.code, error.admitted) for error in ends] == [("cancelled", "yes")]


async def test_work_with_patience_is_cancelled_only_if_no_call_is_repeated() -> None:
    job = Job()
    async with asyncio.TaskGroup() as tasks:
        work = SharedWork(tasks, job.run, name="job", patience=0.0)
        lost = Call(work)
        await job.until(lambda: job.started)
        lost.leave()
        repeat = Call(work)
        job.report("a")
        assert repeat.seen == [{"progress": "a"}]
        repeat.leave()
        assert work.joinable
    assert job.cancelled


async def test_work_that_is_cancelled_before_it_starts_has_a_result() -> None:
    job = Job()
    async with asyncio.TaskGroup() as tasks:
        work = SharedWork(tasks, job.run, name="job")
        call = Call(work)
        work.cancel()
    assert call.seen == ["cancelled"]
    assert not job.started
