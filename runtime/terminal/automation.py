"""Terminal automation: serves `terminal.screen`, `terminal.wait`, `terminal.send` and `terminal.history`."""

from collections.abc import Generator
from contextlib import ExitStack

import msgspec

from hawse.api.automation import (
    TerminalHistory,
    TerminalHistoryResult,
    TerminalScreen,
    TerminalScreenResult,
    TerminalSend,
    TerminalSendResult,
    TerminalWait,
)
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal
from hawse.wire.messages import to_raw
from runtime.core.output_matcher import Matcher
from runtime.core.output_search import SearchContext
from runtime.posix.fd_streams import WRITE_LIMIT
from runtime.rpc.handle_checks import check_running
from runtime.screen.formats import view
from runtime.screen.key_encoder import encode_keys, encode_paste
from runtime.terminal.methods import TerminalMethods, beyond_end
from runtime.terminal.terminal import Terminal
from runtime.terminal.viewer import INTERRUPT
from runtime.terminal.wait import TerminalWaitStream

DEFAULT_TIMEOUT = 30.0  # seconds
WAITS_LIMIT = 512  # at a time, in all terminals: each may hold 1 MiB, the memory of its pattern
SCREEN_ATTEMPTS = 3  # to make a screen step by step; the last one is one step, for a screen that changes all the time
HISTORY_LIMIT = 100  # commands that `terminal.history` returns by default


class AutomationMethods:
    """The methods that read, search and write a terminal without a viewer."""

    def __init__(self, terminals: TerminalMethods, search: SearchContext) -> None:
        """`search`: where searches run, and the work on screens, which takes turns with them."""
        self._terminals = terminals
        self._search = search
        self.waits = Shares(WAITS_LIMIT, "waits")

    def _get(self, params: TerminalScreen | TerminalWait | TerminalSend | TerminalHistory) -> Terminal:
        return self._terminals.get(params.id, params.instance)

    @handles(TerminalScreen, stops=True, caller=True)
    async def _screen(self, params: TerminalScreen, caller: Principal) -> msgspec.Raw:
        return await self._search.work.run(caller.id, self._show(params))

    def _show(self, params: TerminalScreen) -> Generator[None, None, msgspec.Raw]:
        """Return the screen as JSON. It yields between steps; if the screen changes meanwhile, it starts again."""
        for attempt in range(SCREEN_ATTEMPTS):
            screen = self._get(params).current_screen()
            shown = view(screen.emulator, params.format or "text", params.scrollback or 0)
            before = screen.fed, screen.cols, screen.rows
            try:
                while True:
                    next(shown)
                    if attempt < SCREEN_ATTEMPTS - 1:
                        yield
                        self._get(params)  # raises if the terminal, and with it its screen, has been removed
                        if before != (screen.fed, screen.cols, screen.rows):
                            break
            except StopIteration as end:
                state = self._get(params).shell_state
                result = end.value | {"title": state.title, "cwd": state.cwd, "offset": screen.fed}
                return to_raw(msgspec.convert(result, TerminalScreenResult))
        raise AssertionError("the last attempt does not yield")

    @serves(TerminalWait)
    def _wait(self, call: ServerCall, params: TerminalWait) -> None:
        terminal = self._get(params)
        if not (params.pattern or params.silence or params.command or params.prompt or params.exit):
            raise HawseError("invalid_params", "missing parameter: one of pattern, silence, command, prompt, exit")
        if params.since is not None and params.since > terminal.journal.end:
            raise beyond_end(params.since, terminal)
        held = ExitStack()
        held.enter_context(self.waits.hold(call.principal))
        call.on_close(held.close)
        wait = TerminalWaitStream(
            terminal,
            call,
            self._search._replace(caller=call.principal.id),
            since=terminal.journal.end if params.since is None else params.since,
            matcher=Matcher(params.pattern, literal=bool(params.literal)) if params.pattern else None,
            on_screen=params.on == "screen",
            silence=params.silence,
            command=bool(params.command),
            prompt=bool(params.prompt),
            timeout=params.timeout or DEFAULT_TIMEOUT,
        )
        call.serve(wait)
        terminal.subscribe(wait)
        wait.wake()

    @handles(TerminalSend)
    def _send(self, params: TerminalSend) -> TerminalSendResult:
        terminal = self._get(params)
        check_running("terminal", terminal)
        participant = None if params.viewer is None else terminal.participants.find(params.viewer)
        if participant is not None and participant.read_only:
            raise HawseError("forbidden", "this viewer is read-only")
        terminal.participants.check_may_write(participant, 0)
        emulator = terminal.current_screen().emulator
        data = (params.text or "").encode()
        data += encode_paste(params.paste, emulator) if params.paste else b""
        data += encode_keys(params.keys or [], emulator)
        if terminal.input_pending + len(data) > WRITE_LIMIT:
            raise HawseError("input_overflow", "the program does not read its input", details={"applied": 0})
        if participant is not None and data:
            terminal.participants.record_input(participant, data)
        offset = terminal.journal.end
        terminal.write(data)
        if INTERRUPT in data:
            terminal.viewers.skip_backlog()
        return TerminalSendResult(offset=offset, bytes=len(data))

    @handles(TerminalHistory)
    def _history(self, params: TerminalHistory) -> TerminalHistoryResult:
        state = self._get(params).shell_state
        commands, more = state.commands.list(params.limit or HISTORY_LIMIT, params.before)
        described = [command.describe() for command in commands]
        return TerminalHistoryResult(commands=described, more=more, reports_commands=state.reports_commands)
