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
    """A command's exit status and output. `ended` is true if the shell has ended as well, for example by `exit`."""

    ended: bool = False


class AttachProcess(Protocol):
    """The type of `Processes.attach`."""

    async def __call__(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process: ...


class SessionHandle(TypedDict):
    """The fields that identify a session."""

    id: str
    instance: str | None


class Session(CreatedHandle):
    """`async with box.sessions.create() as session: await session.exec("cd /tmp"); …`

    Leaving the block deletes the created session and ends all processes it started, unless `detach` was called.
    Commands in the same session run one at a time, in the order they were requested, across all clients. Different
    sessions run in parallel.
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
            calls: The client's calls.
            sandbox: The sandbox the session is in.
            wanted: The session to create, or the `id` of an existing one.
            create: Whether entering the handle creates the session.
            window: Number of bytes the server can send before the client handles them.
            attach: A function that attaches to a process started by the session.
        """
        super().__init__(calls, sandbox, wanted.id, prefix="s-", create=create, window=window)
        self._wanted = wanted
        self._attach = attach

    # ---- commands

    async def exec(self, command: str, **options: Unpack[ExecOptions]) -> SessionResult:
        """Run a command in the session's shell after all earlier commands, and return its exit status and output.

        The command's effects on the shell persist. If the caller is cancelled and the call has no `key`, the command is
        removed if it is queued, or ended if it is running. The session continues.

        Args:
            command: A shell command.
            options: See `ExecOptions`. `cwd` and `env` are for this command only. `timeout` starts when the command
                does; the default is the session's `command_timeout`. If it is exceeded, the command's processes are
                killed, the shell skips the rest of the command, the exit code is 124, and the session continues.

        Raises:
            CommandError: The command failed and `check` is true. After `timeout`, it is a `CommandTimeoutError`, which
                is also a `TimeoutError`.
            TruncatedError: Output was lost.
            HawseError: `exited` if the shell has ended (`details["exit"]` is the `Exit`) or the session was deleted;
                `spawn_failed` if `cwd` does not exist; `limit_exceeded`, `not_found`, `stale_handle`; the error that
                closed the client.
        """
        options = declared(options, ExecOptions, "exec")
        params = SessionExec(
            **self._handle(),
            command=command,
            cwd=directory(options.get("cwd")),
            env=environment(options.get("env"), unattended=options.get("unattended", False)),
            timeout=options.get("timeout"),
        )
        call = ExecCall(params, options, sandbox=self._sandbox, window=self._window, result=SessionResult)
        give_up = self._calls.abandon if "key" in options else self._cancel
        result: SessionResult = await run_to_end(self._calls, call, give_up=give_up)
        return result

    async def cancel(self, key: str | None = None, *, grace: float | None = None) -> None:
        """End a command, but not the session: SIGTERM, then SIGKILL after `grace` seconds (by default 5).

        A queued command is removed and its `exec` raises `cancelled`. The result of a running command has the signal
        `SIGTERM`. This returns once the command has ended. It is not an error if the command does not exist.

        Args:
            key: The key that was passed to `exec`; None means the running command, no matter which client started it.
            grace: Seconds to wait after SIGTERM before sending SIGKILL.

        Raises:
            HawseError: `not_found`, `stale_handle`; the error that closed the client.
        """
        await self._request(SessionCancel(**self._handle(), key=key, grace=grace))

    def _cancel(self, call: ExecCall) -> None:
        """Abandon `call`, and end its command if it is queued or running."""
        if call.sent and not call.settled:
            params = SessionCancel(**self._handle(), key=call.key)
            self._calls.post(ClientCall(params, sandbox=self._sandbox))
        self._calls.abandon(call)

    async def start(self, command: Command, **options: Unpack[StartOptions]) -> Process:
        """Start a process with a copy of the session's state, after any queued commands, and attach to it. See
        `Processes.start`.

        The process gets the session's directory and exported environment and, if `command` is a string, its aliases
        and, in bash, its functions and options. The process does not change the session, and outlives it.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            options: `id`, `cwd`, `env`, `stdin`, `timeout`, `unattended`; see `StartOptions`.

        Raises:
            HawseError: `exited` as in `exec`, and the same errors as `Processes.start`.
        """
        fields = start_fields(command, **options)
        info = await self._request(SessionProcess(**fields, session=self.id, instance=self.instance or None))
        return await self._attach(info.id, instance=info.instance, since={"stdout": 0, "stderr": 0})

    # ---- lifecycle

    async def info(self) -> SessionInfo:
        """Return the session's current state, including how it ended. Raises `not_found`."""
        return await self._request(SessionGet(id=self._handle()["id"]))

    async def wait(self) -> Exit:
        """Wait until the session's shell has ended, and return its exit status. Raises `not_found`, `stale_handle`."""
        watch = SessionWatch(**self._handle())
        call = ClientCall(watch, sandbox=self._sandbox, repeats=True, window=self._window)
        ended: SessionWatchResult = await self._calls.perform(call)
        return ended.exit

    async def delete(self, *, grace: float | None = None) -> None:
        """End the shell and all processes it started: SIGTERM, then SIGKILL after `grace` seconds (by default 5).

        It is not an error if the session no longer exists.
        """
        await self._delete(SessionDelete(**self._handle(), grace=grace))

    # ---- internals

    def _handle(self) -> SessionHandle:
        self._check_entered()
        return {"id": self.id, "instance": self.instance or None}

    async def _begin(self) -> str:
        return (await self._request(msgspec.structs.replace(self._wanted, id=self.id))).instance

    async def _find(self) -> str:
        return (await self.info()).instance

    def _deletion(self) -> SessionDelete:
        return SessionDelete(**self._handle())
