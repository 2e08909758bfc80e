"""`box.processes`: starts processes in a sandbox, attaches to them and lists them."""

import secrets
from collections.abc import Generator, Mapping
from types import TracebackType
from typing import Any, Unpack

from hawse.api.processes import (
    ProcessAttach,
    ProcessGet,
    ProcessInfo,
    ProcessKill,
    ProcessKillall,
    ProcessList,
    ProcessRemove,
    ProcessStart,
)
from hawse.api.types import Signal, StreamName
from hawse.client.calls.call import ClientCall
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.process import Process
from hawse.client.process.program import Command, StartFields, StartOptions, start_fields


class Processes(SandboxPart):
    """A sandbox's processes. The handle doesn't have to be closed."""

    def start(self, command: Command, **options: Unpack[StartOptions]) -> "ProcessStarting":
        """Start a process, exactly once, and attach to it.

        `process = await box.processes.start(…)` starts a process that outlives the client. `async with
        box.processes.start(…) as process:` kills it at the end, unless `detach` was called.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            options: `id`, `cwd`, `env`, `stdin`, `timeout`, `unattended`; see `StartOptions`.

        Raises:
            HawseError: When awaited: `conflict` if a process with this `id` is running, `spawn_failed`,
                `limit_exceeded`, and the error that closed the client.
        """
        return ProcessStarting(self, start_fields(command, **options))

    async def attach(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process:
        """Attach to a running or ended process.

        Args:
            id: The id of the process.
            instance: The expected instance; None accepts any.
            since: The offset in each stream to start at; None means all output that is still kept.

        Raises:
            HawseError: `not_found`, `stale_handle` if the process is a different instance, and the error that closed
                the client.
        """
        return await self._attach(id, instance=instance, since=since, stdin=True, owned=False)

    async def get(self, id: str) -> ProcessInfo:
        """Return the state of a running or ended process. Raises `not_found`, and the error that closed the client."""
        return await self._request(ProcessGet(id=id))

    async def kill_all(
        self, *, session: str | None = None, signal: Signal | None = None, grace: float | None = None
    ) -> int:
        """End all running processes along with all their descendants; return their number once all have exited.

        Args:
            session: The id of a session, to end only its processes. None means all processes, including `exec`
                commands.
            signal: The first signal; None means SIGTERM.
            grace: Seconds to wait after the first signal before sending SIGKILL; None means 5.

        Raises:
            HawseError: `permission_denied` if a process survives SIGKILL, and the error that closed the client.
        """
        return (await self._request(ProcessKillall(session=session, signal=signal, grace=grace))).killed

    async def remove(self, id: str | None = None, *, instance: str | None = None, session: str | None = None) -> int:
        """Remove an ended process along with its output, or all ended processes. Returns the number removed.

        Args:
            id: The id of the process; None means all ended processes.
            instance: The expected instance; None accepts any.
            session: Without `id`: the id of a session, to remove only its processes. None means all.

        Raises:
            HawseError: `not_found`, `stale_handle`, `conflict` if the process is still running, and the error that
                closed the client.
        """
        return (await self._request(ProcessRemove(id=id, instance=instance, session=session))).removed

    async def list(self, *, session: str | None = None) -> list[ProcessInfo]:
        """Return the running processes and those that ended most recently, in the order they were started.

        `argv` is truncated to 256 characters.

        Args:
            session: The id of a session, to list only its processes. None means all.
        """
        found: list[ProcessInfo] = []
        more = True
        while more:
            part = await self._request(ProcessList(after=found[-1].id if found else None, session=session))
            found += part.processes
            more = part.more and bool(part.processes)
        return found

    async def begin(self, fields: StartFields) -> Process:
        """Start a process and attach to it. Awaiting the result of `start` calls this."""
        wanted = fields["id"]
        id = fields["id"] = f"p-{secrets.token_hex(6)}" if wanted is None else wanted
        try:
            info = await self._request(ProcessStart(**fields))
            since: Mapping[StreamName, int] = {"stdout": 0, "stderr": 0}
            return await self._attach(
                info.id, instance=info.instance, since=since, stdin=bool(fields["stdin"]), owned=True
            )
        except BaseException:
            if wanted is None:  # the process may be running, and no other client could end it without its id
                self._calls.post(ClientCall(ProcessKill(id=id), sandbox=self._sandbox))
            raise

    async def _attach(
        self, id: str, *, instance: str | None, since: Mapping[StreamName, int] | None, stdin: bool, owned: bool
    ) -> Process:
        attach = ProcessAttach(id=id, instance=instance, lossless=True)
        call = ProcessAttachCall(attach, sandbox=self._sandbox, since=since, window=self._window)
        await self._calls.begin(call)
        return Process(self._calls, call, self._sandbox, stdin=stdin, owned=owned)


class ProcessStarting:
    """The result of `box.processes.start`. Await it, or enter it with `async with`."""

    def __init__(self, processes: Processes, fields: StartFields) -> None:
        self._processes = processes
        self._fields = fields
        self._process: Process

    def __await__(self) -> Generator[Any, Any, Process]:
        return self._processes.begin(self._fields).__await__()

    async def __aenter__(self) -> Process:
        self._process = await self
        return self._process

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._process.__aexit__(kind, error, trace)
