"""Commands and processes of a sandbox: what `Sandbox` inherits, so that `box.exec(…)` works."""

import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Unpack

from hawse.api import Params
from hawse.api.processes import Exec, ProcessAttach, ProcessGet, ProcessInfo, ProcessKill, ProcessList, ProcessStart
from hawse.api.types import StreamName
from hawse.client.base.options import Options
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.input_stream import BytesLike
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.exec import OUTPUT_LIMIT, ExecCall, OutputCallbacks, kill, run_to_end
from hawse.client.process.process import Process
from hawse.client.process.program import Command, Env, StartOptions, program, start_fields


class Execution:
    """Runs programs in one sandbox, and finds those that run."""

    def __init__(self, calls: CallTable, id: str, options: Options) -> None:
        self.id = id
        self._calls = calls
        self._options = options
        self._window = options.window

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, key: str | None = None, timeout: float | None = None
    ) -> Any:
        """Call any method of this sandbox by its name: see `Client.call`."""
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
        **callbacks: Unpack[OutputCallbacks],
    ) -> CommandResult:
        """Run a command to its end, and return its exit and its output.

        If the caller is cancelled, the command is ended, unless the call has a `key`.

        Args:
            command: A sequence is an argv; a string is for the shell.
            cwd: The working directory.
            env: Is added to the environment; None unsets a variable.
            stdin: The whole input; None: the command reads from /dev/null.
            timeout: Seconds after which the whole process tree is killed; the result is then `timed_out`.
            check: Whether to raise for a code other than 0, or truncated output.
            key: The same key again, from any client, joins the same run.
            max_output: The first bytes of each stream that are kept; if there were more, the result is `truncated`.
            callbacks: `on_stdout`, `on_stderr`: are called with all output as it arrives: see `OutputCallbacks`.

        Raises:
            CommandError: If `check`.
            TruncatedError: Output was lost.
            HawseError: `spawn_failed`, `unavailable`; `deadline_exceeded` if the call took longer than `timeout` and
                the client's `request_timeout`; what closed the client.
        """
        params = Exec(**program(command, cwd=cwd, env=env, timeout=timeout))
        call = ExecCall(
            params,
            sandbox=self.id,
            key=key,
            stdin=stdin is not None,
            window=self._window,
            limit=max_output,
            timeout=None if timeout is None else self._options.time_limit(params),
            callbacks=callbacks,
        )
        give_up = partial(kill, self._calls) if key is None else self._calls.abandon
        result: CommandResult = await run_to_end(self._calls, call, stdin, check=check, give_up=give_up)
        return result

    # ---- processes

    async def start(self, command: Command, **options: Unpack[StartOptions]) -> Process:
        """Start exactly one process and attach to it. It outlives the client.

        Args:
            command: A sequence is an argv; a string is for the shell.
            options: `id`, `cwd`, `env`, `stdin`, `timeout`: see `StartOptions`.

        Raises:
            HawseError: `conflict` if a process of that `id` runs, `spawn_failed`, `limit_exceeded`, and what closed
                the client.
        """
        fields = start_fields(command, **options)
        info = await self._request(ProcessStart(**fields))
        since: Mapping[StreamName, int] = {"stdout": 0, "stderr": 0}
        return await self._attach(info.id, instance=info.instance, since=since, stdin=bool(fields["stdin"]))

    async def attach_process(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process:
        """Attach to a process, running or exited.

        Args:
            id: The id of the process.
            instance: The instance of that id; None: any.
            since: The offset in each stream to begin at; None: all that is kept.

        Raises:
            HawseError: `not_found`, `stale_handle` if the process is another instance, and what closed the client.
        """
        return await self._attach(id, instance=instance, since=since, stdin=True)

    async def processes(self) -> list[ProcessInfo]:
        """Return the processes that run and the latest that have ended, in the order of their start.

        `argv` is truncated after 256 characters.
        """
        found: list[ProcessInfo] = []
        more = True
        while more:
            part = await self._request(ProcessList(after=found[-1].id if found else None))
            found += part.processes
            more = part.more and bool(part.processes)
        return found

    async def process_info(self, id: str) -> ProcessInfo:
        """Return a process as it is now, running or ended. Raises `not_found`, and what closed the client."""
        return await self._request(ProcessGet(id=id))

    @asynccontextmanager
    async def process(self, command: Command, **options: Unpack[StartOptions]) -> AsyncIterator[Process]:
        """`start` as a context manager, which kills the process at its end unless `detach` was called.

        For the arguments and errors see `start`.
        """
        own = options.get("id") is None
        id = options["id"] = options.get("id") or f"p-{secrets.token_hex(6)}"
        try:
            process = await self.start(command, **options)
        except BaseException:
            if own:  # it may have been started, and its id is known to no other client
                self._calls.post(ClientCall(ProcessKill(id=id), sandbox=self.id))
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
        attach = ProcessAttach(id=id, instance=instance, lossless=True)
        call = ProcessAttachCall(attach, sandbox=self.id, since=since, window=self._window)
        await self._calls.begin(call)
        return Process(self._calls, call, self.id, stdin=stdin)
