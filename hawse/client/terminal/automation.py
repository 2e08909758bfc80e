"""A terminal for automation: read the screen, wait, press keys, run commands (docs/wire.md section 9)."""

import time
from typing import Literal, TypedDict

import msgspec

from hawse.api import Params
from hawse.api.people import ViewerProfile
from hawse.api.terminals import (
    CommandInfo,
    TerminalGet,
    TerminalHistory,
    TerminalHistoryResult,
    TerminalInfo,
    TerminalScreen,
    TerminalScreenResult,
    TerminalSend,
    TerminalSendResult,
    TerminalWait,
    TerminalWaitResult,
)
from hawse.api.types import OutputMatch
from hawse.client.base.call_errors import ConflictError, DeadlineExceededError, ExitedError, InvalidParamsError
from hawse.client.base.errors import fresh
from hawse.client.calls.call_table import CallTable, R
from hawse.client.terminal.attach import TerminalAttachCall
from hawse.client.terminal.output_range import OutputRange
from hawse.client.terminal.wait import TerminalWaitCall
from hawse.wire import HawseError

OUTPUT_LIMIT = 8 << 20  # maximum number of bytes of a command's output that `run` keeps


class RunResult(CommandInfo, frozen=True, kw_only=True):
    """A command executed by `run`, with its raw output. The first `missing` bytes of the output are omitted."""

    output: bytes
    missing: int = 0

    @property
    def text(self) -> str:
        """The output decoded as UTF-8, with LF instead of CR LF. Escape sequences are kept."""
        return self.output.decode(errors="replace").replace("\r\n", "\n")


class TerminalHandle(TypedDict):
    """The fields that identify a terminal."""

    id: str
    instance: str


class Automation:
    """The automation part of `Terminal`. `expect` and `wait_for` search the output after the last match or `send`."""

    _calls: CallTable
    _sandbox: str
    _call: TerminalAttachCall
    _mark: int | None = None  # offset where the next `expect` starts; None means the output's end at attach

    async def screen(
        self, *, format: Literal["text", "ansi", "html"] = "text", scrollback: int = 0
    ) -> TerminalScreenResult:
        """Return the screen, preceded by up to `scrollback` rows (at most 6,000) that have scrolled off."""
        return await self._request(TerminalScreen(**self._handle(), format=format, scrollback=scrollback))

    async def send(
        self, text: str | None = None, *, paste: str | None = None, keys: list[str] | None = None
    ) -> TerminalSendResult:
        """Type into the terminal, either exactly once as a single uninterrupted input, or not at all.

        Args:
            text: Literal text to type first.
            paste: Text to paste next, bracketed if the program has enabled bracketed paste.
            keys: Names of the keys to press last, such as `["ctrl+c", "up"]`.

        Raises:
            HawseError: `invalid_params` for an unknown key, `lease_held`, `exited`, `forbidden` for a read-only viewer,
                `input_overflow` if the program is not reading its input.
        """
        typed = TerminalSend(**self._handle(), text=text, paste=paste, keys=keys, viewer=self._call.viewer_key)
        sent = await self._request(typed)
        self._mark = max(sent.offset, self._mark or 0)
        return sent

    async def expect(
        self,
        pattern: str,
        *,
        literal: bool = False,
        on: Literal["output", "screen"] = "output",
        echo: bool = False,
        since: int | None = None,
        timeout: float = 30.0,
    ) -> OutputMatch:
        r"""Wait until `pattern` matches the output after the last match or `send`, excluding the echo of typed text.

        A pattern can match before all output has arrived, so include the text that follows: `(\d+) files`. Wait for a
        program's prompt before you type, because the echo of text that was typed ahead cannot always be recognized.

        Args:
            pattern: A regular expression in RE2 syntax, for the text without escape sequences; `^` and `$` match at
                every line.
            literal: Whether `pattern` is plain text rather than a regular expression.
            on: The text to match: the output, or the visible screen, which always includes the echo.
            echo: Whether to match the echo of typed text as well.
            since: The offset to search from; None means after the last match or `send`.
            timeout: Time limit in seconds.

        Raises:
            HawseError: `deadline_exceeded`, `exited` if the program ends first, `invalid_params`.
        """
        waited = await self.wait_for(pattern=pattern, literal=literal, on=on, echo=echo, since=since, timeout=timeout)
        if waited.match is None:
            code, what = (
                ("exited", "the program ended before a match")
                if waited.event == "exit"
                else ("deadline_exceeded", f"no match within {timeout:g} s")
            )
            raise fresh(HawseError(code, f"{what}: {pattern!r}", admitted="yes", details={"offset": waited.offset}))
        return waited.match

    async def wait_for(
        self,
        *,
        pattern: str | None = None,
        literal: bool = False,
        on: Literal["output", "screen"] = "output",
        echo: bool = False,
        silence: float | None = None,
        command: bool = False,
        prompt: bool = False,
        waiting: bool = False,
        exit: bool = False,
        since: int | None = None,
        timeout: float = 30.0,
    ) -> TerminalWaitResult:
        """Wait for the first of several conditions. The result's `event` is the condition that was met.

        Args:
            pattern: The same as in `expect`.
            literal: The same as in `expect`.
            on: The same as in `expect`.
            echo: The same as in `expect`.
            silence: Seconds without output.
            command: Whether to wait for a command to end.
            prompt: Whether to wait for the shell's prompt: no command is running, and the shell has printed a prompt
                since a line or Ctrl-C was last typed.
            waiting: Whether to wait until a program other than an idle shell is waiting for input. The result's
                `waiting` describes the program.
            exit: Whether to wait for the program to end.
            since: The offset of the first output to consider; None means after the last match or `send`.
            timeout: Time limit in seconds. If it is exceeded, the `event` is `timeout`.

        Raises:
            HawseError: `invalid_params`; `too_large` if the output at `since` is no longer kept.
        """
        begin = None if on == "screen" else since if since is not None else self._begin()
        wait = TerminalWait(
            **self._handle(),
            pattern=pattern,
            literal=literal or None,
            on=on,
            echo=echo or on == "screen",
            silence=silence,
            command=command or None,
            prompt=prompt or None,
            waiting=waiting or None,
            exit=exit or None,
            since=begin,
        )
        call = TerminalWaitCall(wait, sandbox=self._sandbox, timeout=timeout)
        waited: TerminalWaitResult = await self._calls.perform(call)
        if waited.event in ("pattern", "command") and on != "screen":
            self._mark = max(waited.offset, self._mark or 0)
        return waited

    async def run(self, command: str, *, timeout: float = 3600.0, max_output: int = OUTPUT_LIMIT) -> RunResult:
        """Wait for the prompt, type a command line, and wait until the command has ended. Returns the command's exit
        code and output.

        The terminal needs a shell that reports its commands (bash, zsh, or any shell that prints OSC 133). If a command
        is still running, even if it was just interrupted, this waits for it first. Input that another viewer types at
        the same moment can be mistaken for the command; `take` prevents that.

        Args:
            command: One line.
            timeout: Time limit in seconds. If it is exceeded, this raises `deadline_exceeded`. The error's `admitted`
                is `yes` if the command keeps running, and `no` if nothing was typed because the shell was not at its
                prompt.
            max_output: Maximum number of bytes to keep from the end of the output.

        Raises:
            HawseError: `conflict` if the shell does not report its commands, `exited`, `deadline_exceeded`, and the
                same errors as `send`.
        """
        if "\n" in command or "\r" in command:
            raise InvalidParamsError("command: has more than one line")
        if not (await self.history(limit=1)).reports_commands:
            raise ConflictError("this terminal's shell does not report its commands (OSC 133)")
        until = time.monotonic() + timeout
        begin = await self._at_prompt(until)
        viewer = ViewerProfile(key=self._call.viewer_key)
        printed = OutputRange(self._sandbox, **self._handle(), since=begin, viewer=viewer, limit=max_output)
        try:
            await self._calls.begin(printed)
            sent = await self.send(command, keys=["enter"])
            ended = await self._ended(sent.offset, until)
            output, missing = await printed.read(ended.start, ended.end or ended.start)
        finally:
            self._calls.abandon(printed)
        return RunResult(**msgspec.structs.asdict(ended), output=output, missing=missing)

    async def history(self, *, limit: int = 100, before: int | None = None) -> TerminalHistoryResult:
        """Return the last `limit` commands (at most 1,000) with a number below `before`."""
        return await self._request(TerminalHistory(**self._handle(), limit=limit, before=before))

    async def _at_prompt(self, until: float) -> int:
        """Wait until the shell is at its prompt; return the offset where the output ends."""
        waited = None
        while waited is None or waited.event == "timeout":
            if (left := until - time.monotonic()) <= 0:
                raise DeadlineExceededError("the shell is not at its prompt", admitted="no")
            since = (await self._get()).offset
            waited = await self.wait_for(prompt=True, since=since, timeout=min(left, 86_400))
        if waited.event == "exit":
            raise ExitedError("the shell has ended", admitted="no")
        return waited.offset

    async def _ended(self, since: int, until: float) -> CommandInfo:
        """Wait until the first command after the offset `since` ends, or until the monotonic time `until`."""
        begin = since
        while (left := until - time.monotonic()) > 0:
            waited = await self.wait_for(command=True, since=begin, timeout=min(left, 86_400))
            if waited.event == "exit":
                raise ExitedError("the shell has ended", admitted="yes")
            if waited.command and waited.command.start >= since:
                return waited.command
            begin = waited.offset
        raise DeadlineExceededError("the command is still running", admitted="yes", details={"offset": since})

    def _begin(self) -> int | None:
        return self._call.first_end if self._mark is None else self._mark

    def _handle(self) -> TerminalHandle:
        return {"id": self._call.attach.id, "instance": self._call.attach.instance or ""}

    async def _get(self) -> TerminalInfo:
        return await self._request(TerminalGet(**self._handle()))

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
