"""The table of links: some calls start a sandbox, others wait until another call does."""

import asyncio

from hawse.api.ports import PortWatch
from hawse.api.runtime import RuntimeInfo
from hawse.wire import Event
from hawse.wire.messages import from_raw
from hawse_gateway.providers.base import Endpoint, Progress, Report
from hawse_gateway.upstream.gateway_call import GatewayCall
from hawse_gateway.upstream.links import Links
from tests.support.gateway import FakeRuntime, FakeSandboxes


class Sleeping(FakeSandboxes):
    """Runs when a call has started it."""

    asleep = True

    async def ensure(self, sandbox: str, report: Report | None = None, *, start: bool = True) -> Endpoint | None:  # type: ignore[override]
        if self.asleep and not start:
            self.starts += 1
            self.notify()
            return None
        if self.asleep and report is not None:
            report(Progress(phase="pulling", message="a layer", done=0.5))
        self.asleep = False
        return await super().ensure(sandbox)


class Watching(GatewayCall):
    """Keeps the events of its start."""

    def __init__(self) -> None:
        super().__init__(PortWatch())
        self.progress: list[Event] = []

    def receive_progress(self, event: Event) -> None:
        self.progress.append(event)


async def test_a_call_that_only_watches_waits_until_another_starts_the_sandbox(runtime: FakeRuntime) -> None:
    async with asyncio.TaskGroup() as tasks:
        sandboxes = Sleeping(runtime.path)
        links = Links(sandboxes, tasks)
        link = links.get("local")
        watch = Watching()
        link.open(watch)
        await sandboxes.until(lambda: sandboxes.starts)
        link.open(GatewayCall(PortWatch()))
        await sandboxes.until(lambda: sandboxes.starts == 2)
        assert not runtime.links
        assert not watch.done.done()
        link.open(GatewayCall(RuntimeInfo()))
        await runtime.until(lambda: len(runtime.seen) == 3)
        assert [call.method for call in runtime.seen] == ["port.watch", "port.watch", "runtime.info"]
        assert [(event.name, from_raw(event.value)) for event in watch.progress] == [
            ("starting", {"phase": "pulling", "message": "a layer", "progress": 0.5})
        ]
        links.stop()


async def test_a_link_is_dropped_and_the_next_call_connects_again(runtime: FakeRuntime) -> None:
    async with asyncio.TaskGroup() as tasks:
        links = Links(FakeSandboxes(runtime.path), tasks)
        link = links.get("local")
        link.drop()  # there is none
        link.open(GatewayCall(RuntimeInfo()))
        await runtime.until(lambda: len(runtime.seen) == 1)
        assert links.ready() == [link]
        link.drop()
        await runtime.until(lambda: not runtime.links)
        link.open(GatewayCall(RuntimeInfo()))
        await runtime.until(lambda: len(runtime.seen) == 2)
        links.stop()


async def test_a_watching_call_starts_once_something_else_starts_the_sandbox(runtime: FakeRuntime) -> None:
    async with asyncio.TaskGroup() as tasks:
        sandboxes = Sleeping(runtime.path)
        links = Links(sandboxes, tasks)
        link = links.get("local")
        link.open(Watching())
        await sandboxes.until(lambda: sandboxes.starts)
        links.retry_waiting()
        await sandboxes.until(lambda: sandboxes.starts == 2)
        sandboxes.asleep = False
        links.retry_waiting()
        await runtime.until(lambda: runtime.seen)
        assert [call.method for call in runtime.seen] == ["port.watch"]
        links.stop()


async def test_a_link_knows_for_how_long_its_runtime_was_alone(runtime: FakeRuntime) -> None:
    async with asyncio.TaskGroup() as tasks:
        sandboxes = FakeSandboxes(runtime.path)
        sandboxes.alone = 100.0
        known, unknown = Links(sandboxes, tasks, alone_for=sandboxes.alone_for), Links(sandboxes, tasks)
        for links in (known, unknown):
            links.get("local").open(GatewayCall(RuntimeInfo()))
        await runtime.until(lambda: len(runtime.seen) == 2)
        (link,), (other,) = known.ready(), unknown.ready()
        assert link.link is not None
        assert link.link.alone >= 100.0
        assert other.link is not None
        assert other.link.alone < 0
        known.stop()
        unknown.stop()
