"""Random operations, failures, runtime crashes and gateway restarts: in the end, rows and reality agree.

The provider is a model without processes, which records violations: two starts of one unit, two operations on it at
once, files that are removed while something is running.
"""

import asyncio
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path

from hypothesis import settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from hawse.api.sandboxes import SandboxCreate
from hawse.wire import HawseError
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.store.sqlite import SqliteStore
from tests.support.clock import ManualClock
from tests.support.providers import ModelProvider, Operation
from tests.support.sandboxes import create

MEMORY = Path("/dev/shm")  # otherwise each write of the store waits for the disk
IDS = st.sampled_from(["a", "b"])
FAILING = st.sampled_from(["create", "start", "stop", "delete", "observe", "discover"])
EXPECTED = {"not_found", "conflict", "stopped", "cleanup_pending", "unavailable", "internal", "invalid_params"}


class SandboxMachine(RuleBasedStateMachine):
    """One store, one provider, and a gateway that is replaced repeatedly."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None)
        self.clock = ManualClock()
        self.unexpected: list[HawseError] = []
        self.provider = ModelProvider()
        self.gateway: AsyncExitStack

    @initialize()
    def begin(self) -> None:
        self.loop.run_until_complete(self._begin())

    async def _begin(self) -> None:
        store = SqliteStore(Path(self.folder.name) / "store.db")
        self.sandboxes = Sandboxes(store, {"model": self.provider}, clock=self.clock.clock, sweep=3600)
        self.gateway = AsyncExitStack()
        await self.gateway.enter_async_context(self.sandboxes.running())

    def run(self, *calls) -> None:
        """Make concurrent calls. Only typed errors are expected."""

        async def attempt(call) -> None:
            try:
                await call
            except HawseError as error:
                self.unexpected += [error] if error.code not in EXPECTED else []

        async def all_of_them() -> None:
            await asyncio.gather(*map(attempt, calls))

        self.loop.run_until_complete(asyncio.wait_for(all_of_them(), 20))

    @rule(id=IDS)
    def create(self, id: str) -> None:
        self.run(*(create(self.sandboxes, SandboxCreate(id=id)) for _ in range(3)))

    @rule(id=IDS)
    def call(self, id: str) -> None:
        self.run(self.sandboxes.ensure(id), self.sandboxes.ensure(id))

    @rule(id=IDS)
    def stop(self, id: str) -> None:
        self.run(self.sandboxes.stop(id))

    @rule(id=IDS)
    def start(self, id: str) -> None:
        self.run(self.sandboxes.start(id))

    @rule(id=IDS)
    def pause(self, id: str) -> None:
        self.run(self.sandboxes.pause(id))

    @rule(id=IDS)
    def delete(self, id: str) -> None:
        self.run(self.sandboxes.delete(id), self.sandboxes.delete(id))

    @rule(id=IDS)
    def everything_at_once(self, id: str) -> None:
        boxes = self.sandboxes
        creation = create(boxes, SandboxCreate(id=id))
        self.run(creation, boxes.ensure(id), boxes.stop(id), boxes.start(id), boxes.delete(id), boxes.get(id))

    @rule(operation=FAILING)
    def fail(self, operation: Operation) -> None:
        self.provider.errors[operation] = HawseError("unavailable", f"{operation} fails")

    @rule()
    def recover(self) -> None:
        self.provider.errors.clear()

    @rule(id=IDS)
    def crash(self, id: str) -> None:
        if id in self.provider.units:
            self.provider.units[id].running.clear()

    @rule(id=IDS)
    def lose_the_socket(self, id: str) -> None:
        if id in self.provider.units:
            self.provider.units[id].state = "unreachable"

    @rule(seconds=st.sampled_from([1, 40, 3600]))
    def sweep(self, seconds: float) -> None:
        self.clock.advance(seconds)
        self.run(self.sandboxes.sweep())

    @rule(id=IDS, operation=st.sampled_from(["create", "start", "stop", "delete"]))
    def kill_the_gateway_during_an_operation(self, id: str, operation: Operation) -> None:
        async def interrupted() -> None:
            self.provider.holds[operation] = asyncio.Event()
            work = asyncio.gather(
                create(self.sandboxes, SandboxCreate(id=id)), self.sandboxes.delete(id), return_exceptions=True
            )
            for _ in range(200):
                await asyncio.sleep(0)
            work.cancel()
            await self.gateway.aclose()
            await asyncio.gather(work, return_exceptions=True)
            self.provider.holds.clear()
            await self._begin()

        self.loop.run_until_complete(asyncio.wait_for(interrupted(), 20))

    @invariant()
    def nothing_happens_that_must_not(self) -> None:
        assert self.provider.violations == []
        assert self.unexpected == []
        assert all(len(running) <= 1 for running in self.provider.running.values())

    def teardown(self) -> None:
        """Once failures stop and all delays have passed, rows and reality agree."""
        try:
            self.provider.errors.clear()
            for _ in range(3):
                self.sweep(3600)
            self.nothing_happens_that_must_not()
            infos = list(self.loop.run_until_complete(self.sandboxes.list()))
            states = {info.id: info.state for info in infos}
            assert set(states.values()) <= {"sleeping", "running", "stopped", "paused", "failed"}, states
            running = {info.id: [info.runtime] for info in infos if info.state in ("running", "paused")}
            assert running == self.provider.running
            assert set(self.provider.units) <= set(states), "nothing is left of deleted sandboxes"
            for id in states:
                self.run(self.sandboxes.delete(id))
            assert self.provider.units == {}
        finally:
            self.loop.run_until_complete(self.gateway.aclose())
            self.loop.close()
            self.folder.cleanup()


SandboxMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
test_rows_and_reality_agree = SandboxMachine.TestCase
