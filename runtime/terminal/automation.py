"""Terminal automation: serves `terminal.screen`, `terminal.wait`, `terminal.send` and `terminal.history`."""

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
from hawse.wire import HawseError
from runtime.core.output_matcher import Matcher
from runtime.core.thread_pool import ThreadPool
from runtime.posix.fd_streams import WRITE_LIMIT
from runtime.rpc.handle_checks import check_running
from runtime.screen.formats import view
from runtime.screen.key_encoder import encode_keys, encode_paste
from runtime.terminal.methods import TerminalMethods, beyond_end
from runtime.terminal.terminal import Terminal
from runtime.terminal.viewer import INTERRUPT
from runtime.terminal.wait import TerminalWaitStream

DEFAULT_TIMEOUT = 30.0  # seconds
HISTORY_LIMIT = 100  # commands that `terminal.history` returns by default


class AutomationMethods:
    """The methods that read, search and write a terminal without a viewer."""

    def __init__(self, terminals: TerminalMethods, search: ThreadPool) -> None:
        """`search`: the threads that run long searches."""
        self._terminals = terminals
        self._search = search

    def _get(self, params: TerminalScreen | TerminalWait | TerminalSend | TerminalHistory) -> Terminal:
        return self._terminals.get(params.id, params.instance)

    @handles(TerminalScreen)
    def _screen(self, params: TerminalScreen) -> TerminalScreenResult:
        terminal = self._get(params)
        screen = terminal.current_screen()
        shown = view(screen.emulator, params.format or "text", params.scrollback or 0)
        state = terminal.shell_state
        shown |= {"title": state.title, "cwd": state.cwd, "offset": screen.fed}
        return msgspec.convert(shown, TerminalScreenResult)

    @serves(TerminalWait)
    def _wait(self, call: ServerCall, params: TerminalWait) -> None:
        terminal = self._get(params)
        if not (params.pattern or params.silence or params.command or params.exit):
            raise HawseError("invalid_params", "missing parameter: one of pattern, silence, command, exit")
        if params.since is not None and params.since > terminal.journal.end:
            raise beyond_end(params.since, terminal)
        wait = TerminalWaitStream(
            terminal,
            call,
            self._search,
            since=terminal.journal.end if params.since is None else params.since,
            matcher=Matcher(params.pattern, literal=bool(params.literal)) if params.pattern else None,
            on_screen=params.on == "screen",
            silence=params.silence,
            command=bool(params.command),
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
        return TerminalHistoryResult(commands=described, more=more, tells=state.reports_commands)
