"""Sandboxes from the `joined` provider: users' machines that connect to the gateway.

These sandboxes sleep while their machine is disconnected.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Protocol

import msgspec

from hawse.api.sandboxes import SandboxInfo, SandboxUpdate
from hawse.wire import HawseError
from hawse_gateway.providers.base import Capabilities, Provider
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.driver import Driver
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.requests import changed
from hawse_gateway.sandboxes.table import SandboxTable
from hawse_gateway.store.base import ConflictError
from hawse_gateway.store.clock import Clock


class Starts(Protocol):
    """The interface for starting sandboxes, implemented by `Sandboxes`."""

    async def get(self, sandbox: str) -> SandboxInfo: ...

    async def start(self, sandbox: str) -> SandboxInfo: ...


class JoinedSandboxes:
    """Updates the sandboxes' rows when machines join and leave."""

    def __init__(
        self,
        sandboxes: Starts,
        table: SandboxTable,
        driver: Driver,
        providers: Mapping[str, Provider],
        capabilities: Mapping[str, Capabilities],
        clock: Clock,
    ) -> None:
        """Create an instance.

        Args:
            sandboxes: Starts sandboxes.
            table: The sandboxes' rows.
            driver: Ends runs whose machine has left.
            providers: The providers, keyed by name.
            capabilities: The providers' capabilities, keyed by provider name.
            clock: The clock used for timestamps in rows.
        """
        self._sandboxes = sandboxes
        self._table = table
        self._driver = driver
        self._providers = providers
        self._capabilities = capabilities
        self._clock = clock

    def waiting(self, record: SandboxRecord) -> SandboxRecord:
        """Return the row for a new sandbox, which sleeps if it must wait for a machine."""
        if not self._joined(record):
            return record
        return msgspec.structs.replace(record, wanted="sleeping", idle_timeout=None)

    def change(self, params: SandboxUpdate) -> Callable[[SandboxRecord], SandboxRecord]:
        """Return a function that applies an update to a row. The function raises `HawseError` (`invalid_params`)."""

        def change(record: SandboxRecord) -> SandboxRecord:
            new = changed(record, params, self._clock.now())
            if new.idle_timeout is not None and self._joined(record):
                text = "a machine that has joined cannot sleep"
                raise HawseError("invalid_params", text, details={"path": "$.idle_timeout"})
            return new

        return change

    async def unit(self, sandbox: str) -> str:
        """Return the unit for a sandbox that a machine can join.

        Raises:
            HawseError: `not_found`, `stopped`, or `conflict` if the sandbox's provider is not `joined`.
        """
        rows = await self._table.existing(sandbox)
        assert rows.sandbox is not None
        record = rows.sandbox.value
        if record.wanted == "deleted":
            raise HawseError("not_found", f"sandbox {sandbox!r} was deleted")
        if not self._joined(record):
            text = f"sandbox {sandbox!r} has the provider {record.provider}: a machine can only join one with `joined`"
            raise HawseError("conflict", text)
        if record.wanted in ("stopped", "paused"):
            raise HawseError("stopped", f"sandbox {sandbox!r} is stopped: start it before a machine joins")
        return record.unit

    async def check_present(self, record: SandboxRecord) -> None:
        """Raise `HawseError` (`unavailable`) if a joined sandbox's machine is not connected."""
        if self._joined(record):
            seen = await self._providers[record.provider].observe(record.unit)
            if seen.gone:
                text = f"the machine of sandbox {record.id!r} is not connected: run `hawse join` on it"
                raise HawseError("unavailable", text)

    async def let_join(self, sandbox: str) -> SandboxInfo | None:
        """Allow machines to rejoin a stopped sandbox. Return the sandbox, or None if it isn't waiting for a machine.

        Raises:
            HawseError: `not_found`.
        """
        rows = await self._table.existing(sandbox)
        assert rows.sandbox is not None
        record = rows.sandbox.value
        if not self._joined(record) or record.wanted == "running":
            return None

        def sleep(now: SandboxRecord) -> SandboxRecord:
            stopped = now.wanted in ("stopped", "paused")
            return msgspec.structs.replace(now, wanted="sleeping", reason=None, failure=None) if stopped else now

        await self._table.change(sandbox, sleep)
        return await self._sandboxes.get(sandbox)

    async def begin(self, sandbox: str) -> SandboxInfo:
        """Start the sandbox on a machine that has just connected. Returns the sandbox once it is running.

        Raises:
            HawseError: `not_found`, `stopped`, or the error that made the start fail.
        """
        await self.unit(sandbox)
        await self._sandboxes.get(sandbox)  # ends the run if its runtime is on another machine
        return await self._sandboxes.start(sandbox)

    async def leave(self, sandbox: str, runtime: str, reason: str) -> None:
        """Record that a machine has left permanently. Has no effect if another machine has joined in the meantime.

        Raises:
            HawseError: `unavailable` if the store is unavailable.
        """
        rows = await self._table.read(sandbox)
        if rows.sandbox is None or rows.live is None or rows.live.value.runtime != runtime:
            return
        if rows.sandbox.value.wanted == "running":
            sleeping = msgspec.structs.replace(rows.sandbox.value, wanted="sleeping", reason=reason)
            with suppress(ConflictError):
                await self._table.write(rows.sandbox.put(sleeping))
        if rows.live.value.state != "stopping":
            with suppress(ConflictError):
                stopping = records.stopping(rows.live.value, self._clock.now(), reason)
                await self._table.write(rows.live.put(stopping))
        self._driver.settle(sandbox)

    async def why(self, sandbox: str) -> str:
        """Return why a sandbox is ending, to be shown to the machine's user. Raises `HawseError` (`unavailable`)."""
        rows = await self._table.read(sandbox)
        if rows.sandbox is None or rows.sandbox.value.wanted == "deleted":
            reason = None if rows.sandbox is None else rows.sandbox.value.reason
            return f"the sandbox was deleted{f': {reason}' if reason else ''}"
        return "the sandbox was stopped"

    def _joined(self, record: SandboxRecord) -> bool:
        capabilities = self._capabilities.get(record.provider)
        return capabilities is not None and capabilities.joined
