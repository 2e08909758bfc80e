"""Commands and processes of a sandbox: what `Sandbox` inherits, so that `box.exec(…)` is all one has to write."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from hawse.api import Params
from hawse.api.processes import ProcessGet, ProcessInfo, ProcessKill, ProcessList, ProcessStart
from hawse.api.types import StreamName
from hawse.client.base.errors import CommandError
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.input_stream import BytesLike
from hawse.client.process.exec import Command, ExecCall, program, write_stdin
from hawse.client.process.process import Process, ProcessCall

Env = Mapping[str, str | None]
OUTPUT_LIMIT = 64 << 20  # bytes of each stream that `exec` keeps: more is for a process and its iterators


class Execution:
    """Starts programs, and finds those that were started."""

    def __init__(self, calls: CallTable, id: str, *, window: int) -> None:
        self.id = id
        self._calls = calls
        self._window = window

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, key: str | None = None, timeout: float | None = None
    ) -> Any:
        """Call any method of this sandbox: see `Client.call`."""
        call = ClientCall(method, params, sandbox=self.id, key=key, timeout=timeout, window=self._window)
        return await self._calls.perform(call)

    # ---- commands

    async def exec(
        self,
        command: Command,
        *,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: BytesLike | None = None,
        timeout: float | None = None,
        check: bool = False,
        key: str | None = None,
        max_output: int = OUTPUT_LIMIT,
    ) -> CommandResult:
        """Run a command to its end. A sequence is an argv; a string is for the shell.

        `env` adds to the environment, None unsets. After `timeout` seconds the whole tree is killed, and the result
        says `timed_out`. `key`: the same key again, from anywhere, joins the same run. `max_output`: bytes of each
        stream that are kept, the first; the result says `truncated` if there was more. Being cancelled leaves the
        command running. Raises `CommandError` if `check` and the code is not 0, or there was more output;
        `spawn_failed`, `TruncatedError` for what was lost, `unavailable`, and what ends a client.
        """
        params = program(command, cwd=cwd, env=env, timeout=timeout)
        call = ExecCall(self.id, params, key=key, stdin=stdin is not None, window=self._window, limit=max_output)
        try:
            self._calls.submit(call)
            if stdin is not None:
                await write_stdin(call, stdin)
            result: CommandResult = await self._calls.outcome(call)
        finally:
            self._calls.abandon(call)
        if check and (not result.ok or result.truncated):
            raise CommandError(result)
        return result

    # ---- processes

    async def start(
        self,
        command: Command,
        *,
        id: str | None = None,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: bool = False,
        timeout: float | None = None,
    ) -> Process:
        """Start a process and attach to it; exactly one, whatever happens to the line. It outlives the client.

        Without `stdin` it reads from /dev/null. `timeout` (seconds) kills the whole tree. Raises `conflict` if one of
        that `id` runs, `spawn_failed`, `limit_exceeded`, and what ends a client.
        """
        what = program(command, cwd=cwd, env=env, timeout=timeout)
        info = await self._request(ProcessStart(**what, id=id, stdin=stdin or None))
        return await self._attach(info.id, instance=info.instance, since={"stdout": 0, "stderr": 0}, stdin=stdin)

    async def attach_process(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process:
        """Attach to a process, running or exited. `since`: offsets to begin at; by default all that is kept.

        Raises `not_found`, `stale_handle` if `instance` is another, and what ends a client.
        """
        return await self._attach(id, instance=instance, since=since, stdin=True)

    async def processes(self) -> list[ProcessInfo]:
        """Those that run, and of those that have ended the latest, in the order of their start. `argv` may be cut."""
        found: list[ProcessInfo] = []
        more = True
        while more:
            part = await self._request(ProcessList(after=found[-1].id if found else None))
            found += part.processes
            more = part.more and bool(part.processes)
        return found

    async def process_info(self, id: str) -> ProcessInfo:
        """A process as it is now, running or ended. Raises `not_found`, and what ends a client."""
        return await self._request(ProcessGet(id=id))

    @asynccontextmanager
    async def process(
        self,
        command: Command,
        *,
        id: str | None = None,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[Process]:
        """`start` for an `async with`, which kills what still runs at its end, unless `detach` was called."""
        name = id or f"p-{secrets.token_hex(6)}"
        try:
            process = await self.start(command, id=name, cwd=cwd, env=env, stdin=stdin, timeout=timeout)
        except BaseException:
            if id is None:  # it may have been started, and nobody else can know it
                self._calls.post(ClientCall(ProcessKill(id=name), sandbox=self.id))
            raise
        try:
            yield process
        finally:
            await process.leave()

    # ---- inside

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self.id)

    async def _attach(
        self, id: str, *, instance: str | None, since: Mapping[StreamName, int] | None, stdin: bool
    ) -> Process:
        call = ProcessCall(self.id, id, instance=instance, since=since, window=self._window)
        await self._calls.begin(call)
        return Process(self._calls, call, self.id, stdin=stdin)
