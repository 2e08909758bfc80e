"""Sessions: persistent shells whose commands share the working directory, variables, functions and aliases."""

from collections.abc import Mapping
from typing import Protocol, TypedDict, Unpack

import msgspec

from hawse.api.sessions import (
    SessionCancel,
    SessionCreate,
    SessionDelete,
    SessionExec,
    SessionGet,
    SessionInfo,
    SessionProcess,
    SessionWatch,
    SessionWatchResult,
)
from hawse.api.types import Exit, StreamName
from hawse.client.base.environment import directory, environment
from hawse.client.base.keywords import declared
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.created_handle import CreatedHandle
from hawse.client.process.exec import ExecCall, run_to_end
from hawse.client.process.process import Process
from hawse.client.process.program import Command, ExecOptions, StartOptions, start_fields


class SessionResult(CommandResult, frozen=True):
    """The exit and the output of a command. `ended` if the shell has ended with it (`exit`, `exec`, a kill)."""

    ended: bool = False


class AttachProcess(Protocol):
    """`Processes.attach`."""

    async def __call__(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process: ...


class SessionHandle(TypedDict):
    """The fields that name one session."""

    id: str
    instance: str | None


class Session(CreatedHandle):
    """`async with box.sessions.create() as session: await session.exec("cd /tmp"); …`

    Leaving deletes the created session and all processes that it started, unless `detach` was called. Commands of a
    session run one at a time, in the order of the calls of all clients; sessions run in parallel.
    """

    def __init__(
        self,
        calls: CallTable,
        sandbox: str,
        wanted: SessionCreate,
        *,
        create: bool,
        window: int,
        attach: AttachProcess,
    ) -> None:
        """Create a handle.

        Args:
            calls: The calls of the client.
            sandbox: The sandbox of the session.
            wanted: The session to create, or the `id` of an existing one.
            create: Whether entering creates it.
            window: Number of bytes that the server can send before they are handled.
            attach: Attaches to a process that the session has started.
        """
        super().__init__(calls, sandbox, wanted.id, prefix="s-", create=create, window=window)
        self._wanted = wanted
        self._attach = attach

    # ---- commands

    async def exec(self, command: str, **options: Unpack[ExecOptions]) -> SessionResult:
        """Run a command in the session's shell after all earlier ones, and return its exit and its output.

        Its effects on the shell persist. If the caller is cancelled, the command is removed from the queue or, if it is
        running, ended, unless the call has a `key`. The session continues.

        Args:
            command: A shell command.
            options: See `ExecOptions`. `cwd` and `env` are for this command only. `timeout` starts with the command,
                and is by default the session's `command_timeout`. Then, the processes of the command are killed and the
                shell skips its rest: the code is 124, and the session continues.

        Raises:
            CommandError: If `check`; a `CommandTimeoutError`, which is also a `TimeoutError`, after `timeout`.
            TruncatedError: Output was lost.
            HawseError: `exited` if the shell had ended before (`details["exit"]` is the `Exit`) or the session was
                deleted; `limit_exceeded`, `not_found`, `stale_handle`, `spawn_failed` for a `cwd` that does not exist;
                the error that closed the client.
        """
        options = declared(options, ExecOptions, "exec")
        params = SessionExec(
            **self._handle(),
            command=command,
            cwd=directory(options.get("cwd")),
            env=environment(options.get("env")),
            timeout=options.get("timeout"),
        )
        call = ExecCall(params, options, sandbox=self._sandbox, window=self._window, result=SessionResult)
        give_up = self._calls.abandon if "key" in options else self._cancel
        result: SessionResult = await run_to_end(self._calls, call, give_up=give_up)
        return result

    async def cancel(self, key: str | None = None, *, grace: float | None = None) -> None:
        """End a command, but not the session: TERM, then KILL after `grace` seconds (5).

        A waiting command leaves the queue and its `exec` raises `cancelled`; the result of a running one has the signal
        `SIGTERM`. It returns when the command has ended. A command that does not exist is not an error.

        Args:
            key: The key of its `exec`; None means the running command, of any client.
            grace: Seconds from TERM to KILL.

        Raises:
            HawseError: `not_found`, `stale_handle`; the error that closed the client.
        """
        await self._request(SessionCancel(**self._handle(), key=key, grace=grace))

    def _cancel(self, call: ExecCall) -> None:
        """Abandon `call`, and end its command if that waits or runs."""
        if call.sent and not call.settled:
            params = SessionCancel(**self._handle(), key=call.key)
            self._calls.post(ClientCall(params, sandbox=self._sandbox))
        self._calls.abandon(call)

    async def start(self, command: Command, **options: Unpack[StartOptions]) -> Process:
        """Start a process from the session's state when its turn comes, and attach to it: see `Processes.start`.

        It has the session's directory and exported environment and, if `command` is a string, its aliases and, in bash,
        its functions and options. It does not change the session, and outlives it.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            options: `id`, `cwd`, `env`, `stdin`, `timeout`: see `StartOptions`.

        Raises:
            HawseError: `exited` as for `exec`, and as for `Processes.start`.
        """
        fields = start_fields(command, **options)
        info = await self._request(SessionProcess(**fields, session=self.id, instance=self.instance or None))
        return await self._attach(info.id, instance=info.instance, since={"stdout": 0, "stderr": 0})

    # ---- life

    async def info(self) -> SessionInfo:
        """Return the current state of the session, or how it has ended. Raises `not_found`."""
        return await self._request(SessionGet(id=self._handle()["id"]))

    async def wait(self) -> Exit:
        """Wait until the session's shell has ended; return how. Raises `not_found`, `stale_handle`."""
        watch = SessionWatch(**self._handle())
        call = ClientCall(watch, sandbox=self._sandbox, repeats=True, window=self._window)
        ended: SessionWatchResult = await self._calls.perform(call)
        return ended.exit

    async def delete(self, *, grace: float | None = None) -> None:
        """End the shell and all processes that it started: TERM, then KILL after `grace` seconds (5).

        A session that does not exist any more is not an error.
        """
        await self._delete(SessionDelete(**self._handle(), grace=grace))

    # ---- inside

    def _handle(self) -> SessionHandle:
        self._check_entered()
        return {"id": self.id, "instance": self.instance or None}

    async def _begin(self) -> str:
        return (await self._request(msgspec.structs.replace(self._wanted, id=self.id))).instance

    async def _find(self) -> str:
        return (await self.info()).instance

    def _deletion(self) -> SessionDelete:
        return SessionDelete(**self._handle())
