"""Terminal automation: the methods `terminal.screen`, `terminal.wait`, `terminal.send` and `terminal.history`."""

from contextlib import ExitStack

import msgspec

from hawse.api.terminals import (
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
from hawse.rpc.fair_turns import FairTurns
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal
from hawse.wire.messages import to_raw
from hawse_runtime.core.output_matcher import Matcher
from hawse_runtime.core.output_search import SearchContext
from hawse_runtime.screen.requests import Show
from hawse_runtime.terminal.input import ask_screen, check_input, encode_input, type_input
from hawse_runtime.terminal.methods import TerminalMethods, beyond_end
from hawse_runtime.terminal.terminal import Terminal
from hawse_runtime.terminal.wait import TerminalWaitStream

DEFAULT_TIMEOUT = 30.0  # default timeout in seconds
WAITS_LIMIT = 512  # maximum number of concurrent waits across all terminals; each can use 1 MiB for its pattern
FORMATS_WAITING = 256  # maximum number of screens waiting to be formatted, per caller; each result is up to 1 MiB
HISTORY_LIMIT = 100  # number of commands that `terminal.history` returns by default


class AutomationMethods:
    """Methods that read from, search and write to a terminal without attaching a viewer."""

    def __init__(self, terminals: TerminalMethods, search: SearchContext) -> None:
        """Create the methods. `search` contains the resources for searches by `terminal.wait`."""
        self._terminals = terminals
        self._search = search
        self._turns = FairTurns(1, FORMATS_WAITING)  # formats one screen at a time; callers take turns
        self.waits = Shares(WAITS_LIMIT, "waits")

    def _get(self, params: TerminalScreen | TerminalWait | TerminalSend | TerminalHistory) -> Terminal:
        return self._terminals.get(params.id, params.instance)

    @handles(TerminalScreen, stops=True, caller=True)
    async def _screen(self, params: TerminalScreen, caller: Principal) -> msgspec.Raw:
        terminal = self._get(params)
        async with self._turns.turn(caller.id):
            form, scrollback = params.format or "text", params.scrollback or 0
            data, offset = await ask_screen(terminal, lambda screen: Show(screen, form, scrollback))
        state = terminal.shell_state
        shown = msgspec.json.decode(data) | {"title": state.title, "cwd": state.cwd, "offset": offset}
        return to_raw(msgspec.convert(shown, TerminalScreenResult))

    @serves(TerminalWait)
    def _wait(self, call: ServerCall, params: TerminalWait) -> None:
        if params.exit and (ended := self._terminals.end_of(params.id, params.instance)) is not None:
            call.result(ended)
            return
        terminal = self._get(params)
        if not any((params.pattern, params.silence, params.command, params.prompt, params.waiting, params.exit)):
            names = "pattern, silence, command, prompt, waiting and exit"
            raise HawseError("invalid_params", f"missing parameter: one of {names}")
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
            matcher=_matcher(terminal, params),
            on_screen=params.on == "screen",
            silence=params.silence,
            command=bool(params.command),
            prompt=bool(params.prompt),
            waiting=bool(params.waiting),
            timeout=params.timeout or DEFAULT_TIMEOUT,
        )
        call.serve(wait)
        terminal.subscribe(wait)
        wait.wake()

    @handles(TerminalSend)
    async def _send(self, params: TerminalSend) -> TerminalSendResult:
        terminal = self._get(params)
        async with terminal.sending:
            data = await encode_input(terminal, params.text or "", params.paste or "", params.keys or ())
            participant = check_input(terminal, params.viewer, len(data), params.question)
            offset = terminal.journal.end
            type_input(terminal, participant, data)
            return TerminalSendResult(offset=offset, bytes=len(data))

    @handles(TerminalHistory)
    def _history(self, params: TerminalHistory) -> TerminalHistoryResult:
        state = self._get(params).shell_state
        commands, more = state.commands.list(params.limit or HISTORY_LIMIT, params.before)
        described = [command.describe() for command in commands]
        return TerminalHistoryResult(commands=described, more=more, reports_commands=state.reports_commands)


def _matcher(terminal: Terminal, params: TerminalWait) -> Matcher | None:
    if not params.pattern:
        return None
    hidden = terminal.shell_state.echoes if params.echo is False else None
    return Matcher(params.pattern, literal=bool(params.literal), hidden=hidden)
