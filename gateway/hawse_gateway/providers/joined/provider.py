"""The provider for machines that connect to the gateway. The provider starts nothing; a unit runs while its machine is
connected.

For `GRACE` seconds after a machine disconnects, its unit still counts as running, and calls wait for the machine. A
short network outage or a gateway restart therefore doesn't end the sandbox.
"""

import time
from collections.abc import Callable
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.providers.base import (
    Capabilities,
    Endpoint,
    MachineAddress,
    MountPlace,
    Observation,
    Report,
    SandboxSpec,
)
from hawse_gateway.providers.joined.machines import Machines

JOINED: Final = "joined"  # the provider's name
GRACE: Final = 30.0  # s
OFFLINE: Final = "the machine is not connected"


class JoinedProvider:
    """A gateway's machines.

    Args:
        clock: A monotonic clock, in seconds.
    """

    images: None = None
    egress: None = None

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.machines = Machines()
        self._clock = clock
        self._started = clock()
        self._seen: dict[str, float] = {}  # time of disconnection, keyed by unit

    async def run(self) -> None:
        """Do nothing, since there are no background tasks."""

    async def capabilities(self) -> Capabilities:
        return Capabilities(
            provider=JOINED,
            isolation="none",
            isolation_reason="it is the user's own machine",
            remote=True,
            joined=True,
        )

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Do nothing, since all of the sandbox's files are on the machine."""

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        machine = self.machines.get(unit)
        if machine is None:
            raise HawseError("unavailable", f"{OFFLINE}: run `hawse join` on it")
        return Endpoint(MachineAddress(unit), runtime=machine.runtime)

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        machine = self.machines.get(unit)
        # A machine that is not yet recorded as running has only just connected, and must not be stopped.
        if machine is not None and machine.running and runtime in (None, machine.runtime):
            await self.machines.quit(unit, await machine.why(machine.sandbox))
        self._seen.pop(unit, None)

    async def delete(self, unit: str) -> None:
        await self.machines.quit(unit, "the sandbox was deleted")
        self._seen.pop(unit, None)
        self.machines.forget(unit)

    async def pause(self, unit: str) -> None:
        raise HawseError("unavailable", "a machine that has joined cannot be suspended", retryable=False)

    async def resume(self, unit: str) -> None:
        raise HawseError("unavailable", "a machine that has joined cannot be suspended", retryable=False)

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        machine = self.machines.get(unit)
        if machine is not None:
            return _running(unit, machine.runtime)
        if self._clock() - self._seen.get(unit, self._started) < GRACE:
            return _running(unit, runtime)
        return Observation(unit=unit, state="stopped", reason=OFFLINE)

    async def discover(self) -> list[Observation]:
        return [_running(machine.unit, machine.runtime) for machine in self.machines.all() if machine.running]

    async def mount_place(self, unit: str) -> MountPlace:
        text = "mounts are not supported on a joined machine: mount the file system there yourself"
        raise HawseError("unavailable", text)

    async def close(self) -> None:
        """Do nothing, since no resources are held."""

    def disconnected(self, unit: str) -> None:
        """Record that a unit's machine was disconnected."""
        self._seen[unit] = self._clock()


def _running(unit: str, runtime: str | None) -> Observation:
    endpoint = Endpoint(MachineAddress(unit), runtime=runtime)
    return Observation(unit=unit, state="running", runtime=runtime, endpoint=endpoint, isolation="none")
