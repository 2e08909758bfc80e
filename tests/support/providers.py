"""A provider without processes, which tests can make fail, wait, or lose its units."""

import asyncio
from collections import defaultdict
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Literal

from hawse.wire import HawseError
from hawse_gateway.providers.base import (
    Capabilities,
    Egress,
    Endpoint,
    ImageStore,
    MountPlace,
    Observation,
    Progress,
    Report,
    SandboxSpec,
)
from hawse_gateway.sandboxes.lifecycle import Sandboxes

Operation = Literal["create", "start", "stop", "delete", "pause", "resume", "observe", "discover"]


Begin = Callable[..., AbstractAsyncContextManager[Sandboxes]]  # starts a gateway on the same store and provider


class ModelUnit:
    """A unit: whether it exists, and its running starts."""

    def __init__(self) -> None:
        self.running: list[str] = []  # runtime ids; there must never be more than one
        self.state: Literal["running", "paused", "frozen", "unreachable"] = "running"
        self.endpoint: Endpoint | None = None  # the reported endpoint, if it differs from the default
        self.keeps = True


class ModelProvider:
    """Units in memory.

    Attributes:
        units: By name.
        errors: Errors by operation, raised until they are removed.
        holds: Events by operation. An operation waits for its event after it has started.
        calls: The operations so far, with their units.
        violations: Descriptions of forbidden operations that happened anyway.
    """

    def __init__(self, *, pause: bool = True) -> None:
        self.units: dict[str, ModelUnit] = {}
        self.errors: dict[Operation, Exception] = {}
        self.holds: dict[Operation, asyncio.Event] = {}
        self.calls: list[tuple[Operation, str]] = []
        self.violations: list[str] = []
        self.specs: dict[str, SandboxSpec] = {}
        self.closed = False
        self.images: ImageStore | None = None
        self.egress: Egress | None = None
        self.refused_images: set[str] = set()  # a start with one of these images fails
        self._pause = pause
        self._begun: defaultdict[Operation, asyncio.Event] = defaultdict(asyncio.Event)
        self.busy: set[str] = set()

    async def begun(self, operation: Operation) -> None:
        """Wait until the operation has been called again since the last wait."""
        async with asyncio.timeout(20):
            await self._begun[operation].wait()
        self._begun[operation].clear()

    def count(self, operation: Operation) -> int:
        return len([1 for called, _ in self.calls if called == operation])

    @property
    def running(self) -> dict[str, list[str]]:
        """The running runtimes' ids, by unit."""
        return {name: list(unit.running) for name, unit in self.units.items() if unit.running}

    async def capabilities(self) -> Capabilities:
        return Capabilities(provider="model", isolation="none", pause=self._pause, images=True)

    async def run(self) -> None:
        """Return at once: no background work is needed."""

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        async with self._operation("create", unit):
            if spec.image in self.refused_images:
                raise HawseError("invalid_params", f"there is no image {spec.image}")
            self.units.setdefault(unit, ModelUnit())

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        report(Progress(phase="starting"))
        if unit not in self.units:
            raise HawseError("unavailable", f"unit {unit} does not exist")
        found = self.units[unit]
        if found.running:
            self.violations.append(f"unit {unit} is started while it runs")
        found.running.append(runtime)  # before the error, because a failed start may still have started a runtime
        found.state = "running"
        self.specs[unit] = spec
        async with self._operation("start", unit):
            return Endpoint(Path(f"/model/{unit}"), f"token {runtime}")

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        async with self._operation("stop", unit):
            if unit in self.units:
                running = self.units[unit].running
                running[:] = [id for id in running if runtime is not None and id != runtime]

    async def delete(self, unit: str) -> None:
        async with self._operation("delete", unit):
            if unit in self.units and self.units[unit].running:
                self.violations.append(f"unit {unit} is deleted while it runs")
            self.units.pop(unit, None)

    async def pause(self, unit: str) -> None:
        async with self._operation("pause", unit):
            self.units[unit].state = "paused"

    async def resume(self, unit: str) -> None:
        async with self._operation("resume", unit):
            self.units[unit].state = "running"

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        await self.answer("observe", unit)
        return self._observe(unit)

    async def mount_place(self, unit: str) -> MountPlace:
        raise HawseError("unavailable", "nothing can be mounted in memory")

    async def discover(self) -> list[Observation]:
        await self.answer("discover", "")
        return [self._observe(unit) for unit in self.units]

    async def close(self) -> None:
        self.closed = True

    def _observe(self, unit: str) -> Observation:
        found = self.units.get(unit)
        if found is None:
            return Observation(unit=unit, state="absent")
        if not found.running:
            return Observation(unit=unit, state="stopped")
        runtime = found.running[-1]
        endpoint = found.endpoint or Endpoint(Path(f"/model/{unit}"), f"token {runtime}")
        return Observation(
            unit=unit, state=found.state, runtime=runtime, endpoint=endpoint, isolation="none", keeps=found.keeps
        )

    async def answer(self, operation: Operation, unit: str) -> None:
        self.calls.append((operation, unit))
        self._begun[operation].set()
        if (hold := self.holds.get(operation)) is not None:
            await hold.wait()
        if (error := self.errors.get(operation)) is not None:
            raise error

    def _operation(self, operation: Operation, unit: str) -> "_Operation":
        return _Operation(self, operation, unit)


class _Operation:
    """A modifying operation. Two at once on one unit are a violation."""

    def __init__(self, provider: ModelProvider, operation: Operation, unit: str) -> None:
        self._provider = provider
        self._operation: Operation = operation
        self._unit = unit

    async def __aenter__(self) -> None:
        if self._unit in self._provider.busy:
            self._provider.violations.append(f"{self._operation} of {self._unit} during another operation")
        self._provider.busy.add(self._unit)
        try:
            await self._provider.answer(self._operation, self._unit)
        except BaseException:
            self._provider.busy.discard(self._unit)
            raise

    async def __aexit__(self, *_: object) -> None:
        self._provider.busy.discard(self._unit)
