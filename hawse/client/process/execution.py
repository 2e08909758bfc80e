"""Commands of a sandbox: the base class of `Sandbox` with `box.exec(…)`."""

from functools import partial
from typing import Any, Unpack

from hawse.api import Params
from hawse.client.base.keywords import declared_callbacks
from hawse.client.base.options import Options
from hawse.client.base.results import CommandResult
from hawse.client.base.surroundings import Directory, Env
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.input_stream import BytesLike
from hawse.client.process.program import OUTPUT_LIMIT, Command, OutputCallbacks, program


class Execution:
    """Runs commands in one sandbox."""

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

    async def exec(
        self,
        command: Command,
        *,
        cwd: Directory | None = None,
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
            env: Variables to add to the environment; None unsets one.
            stdin: The whole input; None means the command reads from /dev/null.
            timeout: Time limit in seconds; then, the whole process tree is killed and the result is `timed_out`.
            check: Whether to raise an error for an exit code other than 0, or truncated output.
            key: Another call with the same key, from any client, joins the same run.
            max_output: Number of bytes to keep of each stream; if there are more, the result is `truncated`.
            callbacks: `on_stdout` and `on_stderr` are called with all output as it arrives: see `OutputCallbacks`.

        Raises:
            CommandError: If `check`; a `CommandTimeoutError`, which is also a `TimeoutError`, after `timeout`.
            TruncatedError: Output was lost.
            HawseError: `spawn_failed`, `unavailable`; `deadline_exceeded` if the call took longer than `timeout` and
                the client's `request_timeout`; the error that closed the client.
        """
        from hawse.api.processes import Exec  # `hawse shell`, which must start fast, runs no command
        from hawse.client.process.exec import ExecCall, kill, run_to_end

        params = Exec(**program(command, cwd=cwd, env=env, timeout=timeout))
        call = ExecCall(
            params,
            sandbox=self.id,
            key=key,
            stdin=stdin is not None,
            window=self._window,
            limit=max_output,
            timeout=None if timeout is None else self._options.time_limit(params),
            callbacks=declared_callbacks(callbacks, OutputCallbacks, "exec"),
        )
        give_up = partial(kill, self._calls) if key is None else self._calls.abandon
        result: CommandResult = await run_to_end(self._calls, call, stdin, check=check, give_up=give_up)
        return result

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self.id)
