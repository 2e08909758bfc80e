"""What agents do with a terminal: look at the screen, wait, press keys, run commands (docs/wire.md section 9)."""

import time
from typing import Literal

import msgspec

from hawse.api import Params
from hawse.api.automation import (
    CommandInfo,
    OutputMatch,
    TerminalHistory,
    TerminalHistoryResult,
    TerminalScreen,
    TerminalScreenResult,
    TerminalSend,
    TerminalSendResult,
    TerminalWaitResult,
)
from hawse.api.terminals import TerminalGet, TerminalInfo
from hawse.client.calls.call_table import CallTable, R
from hawse.client.terminal.attach import TerminalAttachCall
from hawse.client.terminal.output_range import OutputRange
from hawse.client.terminal.wait import TerminalWaitCall
from hawse.wire import HawseError

OUTPUT_LIMIT = 8 << 20  # bytes of a command's output that `run` keeps


class RunResult(CommandInfo, frozen=True, kw_only=True):
    """A command that `run` has run, with its output as it came; `missing` bytes are left out at its beginning."""

    output: bytes
    missing: int = 0

    @property
    def text(self) -> str:
        """The output as UTF-8, with LF for CR LF. Escape sequences are still there."""
        return self.output.decode(errors="replace").replace("\r\n", "\n")


class Automation:
    """The part of `Terminal` for programs that read and type. `expect` starts after the last match or `send`."""

    _calls: CallTable
    _sandbox: str
    _call: TerminalAttachCall
    _mark: int | None = None  # where the next `expect` begins; None: where we attached

    async def screen(
        self, *, format: Literal["text", "ansi", "html"] = "text", scrollback: int = 0
    ) -> TerminalScreenResult:
        """The screen, below up to `scrollback` rows of what has scrolled away (6,000 at most)."""
        return await self._request(TerminalScreen(**self._named(), format=format, scrollback=scrollback))

    async def send(
        self, text: str | None = None, *, paste: str | None = None, keys: list[str] | None = None
    ) -> TerminalSendResult:
        """Type `text` as it is, then `paste` (bracketed if the program wants that), then `keys`: `["ctrl+c", "up"]`.

        Exactly once, in one piece or not at all. Raises `invalid_params` for an unknown key, `lease_held`, `exited`,
        `forbidden` for a read-only viewer, `input_overflow` if the program does not read.
        """
        typed = TerminalSend(**self._named(), text=text, paste=paste, keys=keys, viewer=self._call.viewer_key)
        sent = await self._request(typed)
        self._mark = max(sent.offset, self._mark or 0)
        return sent

    async def expect(
        self,
        pattern: str,
        *,
        literal: bool = False,
        on: Literal["output", "screen"] = "output",
        since: int | None = None,
        timeout: float = 30.0,
    ) -> OutputMatch:
        r"""Wait until `pattern` matches what is printed after the last match or `send` (or `since` an offset).

        RE2 syntax, ^ and $ at every line, on the text without escape sequences; it may match before all has come, so
        say what follows (`(\d+) files`). `on="screen"`: on what is visible. Raises `deadline_exceeded` after `timeout`
        seconds, `exited` if the program ends first, `invalid_params`.
        """
        waited = await self.wait_for(pattern=pattern, literal=literal, on=on, since=since, timeout=timeout)
        if waited.match is None:
            code, what = (
                ("exited", "the program ended") if waited.event == "exit" else ("deadline_exceeded", "no match")
            )
            raise HawseError(code, f"{what}: {pattern!r}", admitted="yes", details={"offset": waited.offset})
        return waited.match

    async def wait_for(
        self,
        *,
        pattern: str | None = None,
        literal: bool = False,
        on: Literal["output", "screen"] = "output",
        silence: float | None = None,
        command: bool = False,
        exit: bool = False,
        since: int | None = None,
        timeout: float = 30.0,
    ) -> TerminalWaitResult:
        """Wait for the first of several conditions; times are in seconds. `event` of the result names it.

        Counts output after the last match or `send`, or `since` an offset. Raises `invalid_params`, `too_large`.
        """
        begin = None if on == "screen" else since if since is not None else self._begin()
        what = {"pattern": pattern, "literal": literal or None, "on": on, "silence": silence, "since": begin}
        params = {**self._named(), **what, "command": command or None, "exit": exit or None}
        call = TerminalWaitCall(self._sandbox, params, timeout=timeout)
        waited: TerminalWaitResult = await self._calls.perform(call)
        if waited.event in ("pattern", "command") and on != "screen":
            self._mark = max(waited.offset, self._mark or 0)
        return waited

    async def run(self, command: str, *, timeout: float = 3600.0, max_output: int = OUTPUT_LIMIT) -> RunResult:
        """Type a command line, wait until it has ended, and return its exit code and its output.

        It needs a shell that tells its commands (bash, zsh, or whatever prints OSC 133), at its prompt or soon there.
        `RunResult.output` holds the last `max_output` bytes. After `timeout` seconds this raises
        `deadline_exceeded`, and the command goes on.
        What another types at the same moment may be taken for it: see `take`.
        Raises `conflict` for a shell that does not tell, `exited`, and as `send` does.
        """
        if "\n" in command or "\r" in command:
            raise HawseError("invalid_params", "a command line is one line")
        if not (await self.history(limit=1)).tells:
            raise HawseError("conflict", "this terminal does not tell its commands (OSC 133)")
        begin = (await self._get()).offset
        viewer = {"key": self._call.viewer_key}
        tap = OutputRange(self._sandbox, **self._named(), since=begin, viewer=viewer, limit=max_output)
        try:
            await self._calls.begin(tap)
            sent = await self.send(command, keys=["enter"])
            ended = await self._ended(sent.offset, time.monotonic() + timeout)
            output, missing = await tap.read(ended.start, ended.end or ended.start)
        finally:
            self._calls.abandon(tap)
        return RunResult(**msgspec.structs.asdict(ended), output=output, missing=missing)

    async def history(self, *, limit: int = 100, before: int | None = None) -> TerminalHistoryResult:
        """The latest `limit` (up to 1,000) commands with a number below `before`."""
        return await self._request(TerminalHistory(**self._named(), limit=limit, before=before))

    async def _ended(self, since: int, until: float) -> CommandInfo:
        """The end of the first command that begins after `since`."""
        begin = since
        while (left := until - time.monotonic()) > 0:
            waited = await self.wait_for(command=True, since=begin, timeout=min(left, 86_400))
            if waited.event == "exit":
                raise HawseError("exited", "the shell has ended", admitted="yes")
            if waited.command and waited.command.start >= since:
                return waited.command
            begin = waited.offset
        raise HawseError("deadline_exceeded", "the command goes on", admitted="yes", details={"offset": since})

    def _begin(self) -> int | None:
        return self._call.begun if self._mark is None else self._mark

    def _named(self) -> dict[str, str]:
        return {"id": str(self._call.base["id"]), "instance": str(self._call.base["instance"])}

    async def _get(self) -> TerminalInfo:
        """Return the terminal as it is now; `terminal.get` takes no `instance`."""
        return await self._request(TerminalGet(id=self._named()["id"]))

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
