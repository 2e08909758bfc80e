"""A command in a terminal whose questions are returned to the caller: the result of `exec` with `terminal=True`.

Each step waits until the program asks a question or ends (`terminal.wait`), and collects the output printed in the
meantime (`terminal.attach`).
"""

import secrets
import time
from collections.abc import Callable
from typing import Final, TypedDict, Unpack

import msgspec

from hawse.api.people import ViewerProfile
from hawse.api.terminals import (
    TerminalCreate,
    TerminalCreateResult,
    TerminalGet,
    TerminalInfo,
    TerminalKill,
    TerminalSend,
    TerminalWait,
    TerminalWaiting,
    TerminalWaitResult,
)
from hawse.api.types import Exit
from hawse.client.base.call_errors import SpawnFailedError
from hawse.client.base.environment import Directory, Env
from hawse.client.base.keywords import declared
from hawse.client.base.results import represent
from hawse.client.base.timeouts import check_timeout
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable
from hawse.client.process.program import Command, ProgramFields, program
from hawse.client.terminal.output_range import OutputRange
from hawse.client.terminal.plain_text import plain
from hawse.client.terminal.wait import TerminalWaitCall

OUTPUT_LIMIT: Final = 8 << 20  # default maximum number of bytes of output to keep per step
QUIET: Final = 3.0  # a step ends after this many seconds without output if a shell is idle or the state is unknown
DAY: Final = 86_400.0  # the maximum time a call can wait, in seconds
COLS, ROWS = 120, 40  # the default size
SHELLS: Final = ("/bin/bash", "/bin/sh")  # the first shell that exists runs command lines, as in the runtime


class TerminalExecOptions(TypedDict, total=False):
    """Options for running a command in a terminal: the keyword arguments for `Sandbox.exec` with `terminal=True`.

    Args:
        cwd: The working directory, relative to the workspace.
        env: Variables to add to the environment; None unsets a variable.
        timeout: Time limit in seconds. If the command neither ends nor waits for input within this time, it is killed,
            and its exit is `timed_out`. The limit no longer applies once `exec` has returned, nor if this client is
            killed.
        unattended: Whether to set variables that make programs less likely to prompt. See `ExecOptions`.
        max_output: Number of bytes to keep from the end of the output of each step; by default 8 MiB.
        cols: Number of columns; by default 120.
        rows: Number of rows; by default 40.
    """

    cwd: Directory | None
    env: Env | None
    timeout: float | None
    unattended: bool
    max_output: int
    cols: int
    rows: int


class CommandStep(msgspec.Struct, frozen=True, kw_only=True):
    """The output between two offsets, and the reason why the step ended there."""

    start: int
    end: int
    output: bytes
    missing: int
    needs_input: TerminalWaiting | None = None
    exit: Exit | None = None


class TerminalCommand:
    """A command in a terminal, as of the last step: it is waiting for input, has ended, or is still running.

    `send` and `read` return a new object for the next step. A command that is waiting for input keeps waiting until it
    gets an answer or is ended with `kill`.
    """

    def __init__(self, follower: "Follower", step: CommandStep) -> None:
        self._follower = follower
        self._step = step

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r}: {represent(self._step)}>"

    @property
    def id(self) -> str:
        """The id of the command's terminal, which users can open as well."""
        return self._follower.id

    @property
    def needs_input(self) -> TerminalWaiting | None:
        """The question that the program is asking; None if the program has ended or is still running.

        `kind` is `unknown` if nothing has been printed for 3 seconds, and the kernel doesn't show whether the program
        is waiting. `idle_shell` is true if a shell is waiting for its next command; `kind` is then `no`.
        """
        return self._step.needs_input

    @property
    def exit(self) -> Exit | None:
        """How the program ended; None while it is running."""
        return self._step.exit

    @property
    def output(self) -> bytes:
        """The output of this step, including the echo of the answer and the prompt."""
        return self._step.output

    @property
    def missing(self) -> int:
        """The number of bytes omitted at the start of `output`."""
        return self._step.missing

    @property
    def offset(self) -> int:
        """The offset where `output` ends."""
        return self._step.end

    @property
    def text(self) -> str:
        """The output decoded as UTF-8, without escape sequences, with LF instead of CR LF."""
        lines = (plain(line.removesuffix(b"\r")) for line in self.output.split(b"\n"))
        return b"\n".join(lines).decode(errors="replace")

    async def send(
        self,
        text: str | None = None,
        *,
        paste: str | None = None,
        keys: list[str] | None = None,
        timeout: float | None = None,
    ) -> "TerminalCommand":
        """Type an answer, and wait until the program asks another question or ends. To submit a line, pass
        `keys=["enter"]`.

        The answer is only typed if the program is still waiting for it.

        Args:
            text: Literal text to type first.
            paste: Text to paste next, bracketed if the program has enabled bracketed paste.
            keys: Names of the keys to press last, such as `["enter"]` or `["ctrl+c"]`.
            timeout: Maximum number of seconds to wait. If it is exceeded, the command keeps running, and the result has
                neither `needs_input` nor `exit`. None means no limit.

        Raises:
            HawseError: `conflict` if the question has already been answered or the program is no longer waiting for
                this answer; `exited`, `not_found` or `stale_handle` if the program has ended; `lease_held` if another
                viewer holds the writer lease; `input_overflow` if the program is not reading its input.
        """
        check_timeout(timeout)  # checked before anything is typed
        needed = self._step.needs_input
        question = needed.since if needed is not None and needed.kind in ("line", "secret", "key") else None
        await self._follower.send(text=text, paste=paste, keys=keys, question=question)
        return await self.read(timeout=timeout)

    async def read(self, *, timeout: float | None = None) -> "TerminalCommand":
        """Wait until the program asks a question or ends, and return the output since this step.

        Args:
            timeout: The same as in `send`.

        Raises:
            HawseError: `not_found` or `stale_handle` if the program ended so long ago that its output is no longer
                kept.
        """
        return TerminalCommand(self._follower, await self._follower.step(self._step.end, timeout))

    async def kill(self, *, grace: float | None = None) -> Exit:
        """End all of the command's processes: SIGHUP, then SIGKILL after `grace` seconds (by default 2).

        Returns the program's exit status.

        Raises:
            HawseError: `not_found` or `stale_handle` if the program ended so long ago that its terminal is no longer
                kept.
        """
        return await self._follower.kill(grace)


class Follower:
    """Waits for a terminal's program to ask a question or end."""

    def __init__(self, calls: CallTable, sandbox: str, id: str, instance: str, max_output: int) -> None:
        """Create a follower.

        Args:
            calls: The client's calls.
            sandbox: The sandbox the terminal is in.
            id: The id of the terminal.
            instance: The terminal's instance.
            max_output: Number of bytes of output to keep per step.
        """
        self.id = id
        self._calls = calls
        self._sandbox = sandbox
        self._instance = instance
        self._max_output = max_output
        self._viewer = ViewerProfile(key=secrets.token_hex(16), kind="agent")

    async def send(
        self, *, text: str | None, paste: str | None, keys: list[str] | None, question: float | None
    ) -> None:
        typed = TerminalSend(id=self.id, instance=self._instance, text=text, paste=paste, keys=keys, question=question)
        await self._calls.request(typed, sandbox=self._sandbox)

    async def kill(self, grace: float | None = None) -> Exit:
        params = TerminalKill(id=self.id, instance=self._instance, grace=grace)
        return (await self._calls.request(params, sandbox=self._sandbox)).exit

    async def step(self, since: int, timeout: float | None, *, ends: bool = False) -> CommandStep:
        """Wait for the next question or the program's end, and return the step, with the output since `since`.

        Args:
            since: The offset to start at.
            timeout: Maximum number of seconds to wait; None means no limit.
            ends: Whether to kill the program when the time is up.
        """
        check_timeout(timeout)
        info = await self._get()
        printed = OutputRange(
            self._sandbox,
            self.id,
            self._instance,
            since=max(since, info.start),  # the output before this offset is no longer kept
            viewer=self._viewer,
            limit=self._max_output,
        )
        try:
            await self._calls.begin(printed)
            end, needs_input, exit = await self._wait(timeout)
            if ends and exit is None and needs_input is None:
                await self.kill()
                end, _, exit = await self._wait(None)
                exit = exit and msgspec.structs.replace(exit, timed_out=True)
            output, missing = await printed.read(since, end)
        finally:
            self._calls.abandon(printed)
        return CommandStep(start=since, end=end, output=output, missing=missing, needs_input=needs_input, exit=exit)

    async def _wait(self, timeout: float | None) -> tuple[int, TerminalWaiting | None, Exit | None]:
        """Wait until the program asks a question, ends or runs out of time.

        Returns the offset of the output at that moment, and the question or the exit status, if any.
        """
        left = _countdown(timeout)
        while (seconds := left()) > 0:
            wait = TerminalWait(
                id=self.id, instance=self._instance, waiting=True, prompt=True, exit=True, silence=QUIET
            )
            call = TerminalWaitCall(wait, sandbox=self._sandbox, timeout=seconds)
            waited: TerminalWaitResult = await self._calls.perform(call)
            if waited.event in ("waiting", "exit"):
                return waited.offset, waited.waiting, waited.exit
            if waited.event == "prompt":
                return waited.offset, TerminalWaiting(kind="no", idle_shell=True), None
            if waited.event == "silence" and (state := await self._state()) is not None:
                return waited.offset, state, None
        return (await self._get()).offset, None, None

    async def _state(self) -> TerminalWaiting | None:
        """Return the state if the terminal may be waiting: its shell is idle, or its program's state is unknown."""
        state = (await self._get()).waiting
        return state if state.kind == "unknown" or state.idle_shell else None

    async def _get(self) -> TerminalInfo:
        return await self._calls.request(TerminalGet(id=self.id, instance=self._instance), sandbox=self._sandbox)


async def exec_in_terminal(
    calls: CallTable, sandbox: str, command: Command, **options: Unpack[TerminalExecOptions]
) -> TerminalCommand:
    """Start a command in a new terminal, and wait until it asks a question or ends. If the caller is cancelled, the
    command is killed.
    """
    options = declared(options, TerminalExecOptions, "exec")
    timeout = options.get("timeout")
    fields = program(
        command,
        cwd=options.get("cwd"),
        env=options.get("env"),
        timeout=timeout,
        unattended=options.get("unattended", False),
    )
    created = await _start(calls, sandbox, fields, options.get("cols", COLS), options.get("rows", ROWS))
    follower = Follower(calls, sandbox, created.id, created.instance, options.get("max_output", OUTPUT_LIMIT))
    try:
        return TerminalCommand(follower, await follower.step(0, timeout, ends=True))
    except BaseException:
        calls.post(ClientCall(TerminalKill(id=created.id, instance=created.instance), sandbox=sandbox))
        raise


async def _start(calls: CallTable, sandbox: str, fields: ProgramFields, cols: int, rows: int) -> TerminalCreateResult:
    async def create(argv: list[str]) -> TerminalCreateResult:
        id = f"t-{secrets.token_hex(6)}"
        wanted = TerminalCreate(
            id=id, argv=argv, cwd=fields["cwd"], env=fields["env"], cols=cols, rows=rows, integration=False
        )
        return await calls.request(wanted, sandbox=sandbox, undo=TerminalKill(id=id))

    if (command := fields["command"]) is None:
        return await create(fields["argv"] or [])
    try:
        return await create([SHELLS[0], "-c", command])
    except SpawnFailedError:
        return await create([SHELLS[1], "-c", command])


def _countdown(timeout: float | None) -> Callable[[], float]:
    """Return a function that returns how many seconds of `timeout` remain, or a day if there is no limit."""
    if timeout is None:
        return lambda: DAY
    until = time.monotonic() + timeout
    return lambda: min(until - time.monotonic(), DAY)
