"""Running commands in a sandbox: the base class of `Sandbox` that has `box.exec(…)`."""

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from hawse.api import Params
from hawse.client.base.keywords import declared
from hawse.client.base.options import Options
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.client.process.program import Command, ExecOptions, program

if TYPE_CHECKING:  # loaded on first use, so that programs start fast
    from hawse.client.terminal.command import TerminalCommand, TerminalExecOptions


class Execution:
    """Runs commands in a sandbox."""

    def __init__(self, calls: CallTable, id: str, options: Options) -> None:
        self.id = id
        self._calls = calls
        self._options = options
        self._window = options.window

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, key: str | None = None, timeout: float | None = None
    ) -> Any:
        """Call any method of this sandbox by name. See `Client.call`."""
        call = ClientCall(method, params, sandbox=self.id, key=key, timeout=timeout, window=self._window)
        return await self._calls.perform(call)

    @overload
    async def exec(
        self, command: Command, *, terminal: Literal[True], **options: "Unpack[TerminalExecOptions]"
    ) -> "TerminalCommand": ...

    @overload
    async def exec(
        self, command: Command, *, terminal: Literal[False] = False, **options: Unpack[ExecOptions]
    ) -> CommandResult: ...

    async def exec(
        self, command: Command, *, terminal: bool = False, **options: Any
    ) -> "CommandResult | TerminalCommand":
        """Run a command to completion, and return its exit status and output.

        With `terminal=True`, the command runs in a terminal, and the call also returns when a program waits for input.
        The result contains the question and the output so far; use its methods to answer, continue reading, or end the
        command.

        If the caller is cancelled, the command is ended, unless the call has a `key`.

        Args:
            command: An argv as a sequence, or a shell command as a string.
            terminal: Whether to run the command in a terminal.
            options: See `ExecOptions`, or `TerminalExecOptions` with `terminal=True`. After `timeout`, all of the
                command's processes are killed.

        Raises:
            CommandError: The command failed and `check` is true. If `timeout` has expired, this is a
                `CommandTimeoutError`, which is also a `TimeoutError`.
            TruncatedError: Output was lost.
            HawseError: `spawn_failed`, `unavailable`; `deadline_exceeded` if the call took longer than `timeout` plus
                the client's `request_timeout`; the error that closed the client.
        """
        from hawse.api.processes import Exec  # imported here, because `hawse shell` must start fast
        from hawse.client.process.exec import ExecCall, kill, run_to_end

        if terminal:
            from hawse.client.terminal.command import exec_in_terminal

            return await exec_in_terminal(self._calls, self.id, command, **options)
        given = cast("ExecOptions", declared(options, ExecOptions, "exec"))
        timeout, unattended = given.get("timeout"), given.get("unattended", False)
        fields = program(command, cwd=given.get("cwd"), env=given.get("env"), timeout=timeout, unattended=unattended)
        params = Exec(**fields)
        limit = None if timeout is None else self._options.time_limit(params)
        call = ExecCall(params, given, sandbox=self.id, window=self._window, timeout=limit)
        give_up = self._calls.abandon if "key" in given else partial(kill, self._calls)
        result: CommandResult = await run_to_end(self._calls, call, give_up=give_up)
        return result

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self.id)
