"""The terminals of a sandbox, and the `terminal.*` methods."""

import asyncio
import logging
import secrets
import signal as signals
from collections.abc import Callable, Iterator
from typing import Any

from hawse.api.people import TerminalLease, TerminalPresence
from hawse.api.rights import OPERATE, allows
from hawse.api.terminals import (
    RecordOptions,
    TerminalAttach,
    TerminalCreate,
    TerminalGet,
    TerminalKill,
    TerminalList,
    TerminalResize,
    TerminalSignal,
)
from hawse.rpc import handles, serves
from hawse.rpc.call import RuntimeCall
from hawse.wire import HawseError
from runtime.journal.journal import JournalPool
from runtime.posix.environment import Environment
from runtime.posix.process_tree import ProcessTrees
from runtime.posix.spawn import default_shell
from runtime.rpc.handle_checks import check_instance, check_running, signal_number
from runtime.screen.snapshot_cache import SnapshotCache
from runtime.terminal.shell_integration import ShellLaunch, integrate
from runtime.terminal.stats import TerminalStats
from runtime.terminal.terminal import Terminal
from runtime.terminal.viewer import Viewer

log = logging.getLogger(__name__)

RUNNING_LIMIT = 1024
DEFAULT_COLS, DEFAULT_ROWS = 80, 24
DEFAULT_GRACE = 2.0  # seconds from HUP to KILL
EXITED_KEPT = 64  # exited terminals that stay readable


class TerminalMethods:
    """By id: at most one instance each, running or exited."""

    def __init__(self, environment: Environment, journals: JournalPool, trees: ProcessTrees) -> None:
        self._environment = environment
        self._journals = journals
        self._trees = trees
        self._terminals: dict[str, Terminal] = {}
        self.shelf = SnapshotCache()
        self.tally = TerminalStats()
        # Set by who keeps recordings: may raise, and returns what begins one of a terminal that was just started.
        self.recording: Callable[[RecordOptions], Callable[[Terminal], None]] | None = None

    def __len__(self) -> int:
        return len(self._terminals)

    def __iter__(self) -> Iterator[Terminal]:
        return iter(self._terminals.values())

    @property
    def output(self) -> int:
        """Bytes that the programs of all terminals there ever were have printed."""
        return self.tally.output + sum(terminal.journal.end for terminal in self)

    def get(self, terminal_id: str, instance: str | None = None) -> Terminal:
        """Raises `not_found` and `stale_handle`."""
        terminal = self._terminals.get(terminal_id)
        if terminal is None:
            raise HawseError("not_found", f"no terminal {terminal_id}")
        check_instance("terminal", terminal, instance)
        return terminal

    @handles(TerminalCreate)
    def create(self, params: TerminalCreate) -> dict[str, Any]:
        """Start a terminal unless that id has a running one. No await: concurrent creates start one child."""
        terminal_id = params.id or f"t-{secrets.token_hex(4)}"
        existing = self._terminals.get(terminal_id)
        if existing is not None and existing.exit is None:
            return existing.describe() | {"created": False}
        if sum(t.exit is None for t in self._terminals.values()) >= RUNNING_LIMIT:
            raise HawseError("limit_exceeded", f"{RUNNING_LIMIT} terminals are running")
        begin = self._recording(params.record)
        cwd = self._environment.cwd(params.cwd)
        env = self._environment.build(params.env, cwd=cwd, terminal=True)
        argv = params.argv or [default_shell(env)]
        start = ShellLaunch(argv, env, False) if params.integration is False else integrate(argv, env)
        terminal = Terminal(
            terminal_id,
            start.argv,
            cwd=cwd,
            env=start.env,
            cols=params.cols or DEFAULT_COLS,
            rows=params.rows or DEFAULT_ROWS,
            journal=self._journals.journal(),
            shelf=self.shelf,
            tally=self.tally,
            on_exit=self._trim,
            integrated=start.integrated,
        )
        terminal.argv = argv  # as it was asked for
        if existing is not None:
            self._forget(existing)
        self._terminals[terminal_id] = terminal
        if begin is not None:
            begin(terminal)
        return terminal.describe() | {"created": True}

    def _recording(self, policy: RecordOptions | bool | None) -> Callable[[Terminal], None] | None:
        """What is to be done with the terminal that will be started. Raises, so that none is started unrecorded."""
        if not policy or self.recording is None:
            return None
        return self.recording(policy if isinstance(policy, RecordOptions) else RecordOptions())

    async def close(self) -> None:
        """End every terminal and what runs in it."""
        ends = [self._end(terminal, 0.5) for terminal in self._terminals.values() if terminal.exit is None]
        for error in await asyncio.gather(*ends, return_exceptions=True):
            if error is not None:
                log.error("! a terminal is left: %s", error)
        for terminal in self._terminals.values():
            terminal.retire()

    @serves(TerminalAttach)
    def _attach(self, call: RuntimeCall, params: TerminalAttach) -> None:
        terminal = self.get(params.id, params.instance)
        if params.since is not None and params.since > terminal.journal.end:
            raise HawseError("invalid_params", "`since` is in the future", details={"offset": terminal.journal.end})
        # It may look; nothing that it asks for may slow the program down.
        guest = not allows(call.principal.rights, OPERATE)
        viewer = Viewer(
            terminal,
            call,
            since=params.since,
            input_id=params.input,
            lossless=bool(params.lossless) and not guest,
            emulator=bool(params.emulator),
            read_only=bool(params.read_only) or guest,
            guest=params.viewer,
            fit=(params.cols, params.rows) if params.cols and params.rows else None,
        )
        viewer.attach()
        call.serve(viewer)

    @handles(TerminalResize)
    def _resize(self, params: TerminalResize) -> dict[str, int]:
        terminal = self.get(params.id)
        if params.viewer is None:
            terminal.resize(params.cols, params.rows)
        else:
            terminal.company.fits(terminal.company.find(params.viewer), (params.cols, params.rows))
        cols, rows = terminal.size
        return {"cols": cols, "rows": rows}

    @handles(TerminalSignal)
    def _signal(self, params: TerminalSignal) -> dict[str, Any]:
        terminal = self.get(params.id)
        signum = signal_number(params.signal)
        check_running("terminal", terminal)
        terminal.signal(signum)
        return {}

    @handles(TerminalKill)
    async def _kill(self, params: TerminalKill) -> dict[str, Any]:
        terminal = self.get(params.id)
        await self._end(terminal, DEFAULT_GRACE if params.grace is None else params.grace)
        return {"exit": terminal.exit}

    @handles(TerminalList)
    def _list(self, params: TerminalList) -> dict[str, Any]:
        return {"terminals": [terminal.describe() for terminal in self._terminals.values()]}

    @handles(TerminalGet)
    def _get(self, params: TerminalGet) -> dict[str, Any]:
        return self.get(params.id).describe()

    @handles(TerminalPresence)
    def _presence(self, params: TerminalPresence) -> dict[str, Any]:
        return self.get(params.id).company.set_presence(params)

    @handles(TerminalLease)
    def _lease(self, params: TerminalLease) -> dict[str, Any]:
        return self.get(params.id).company.set_lease(params)

    def _trim(self, _: Terminal) -> None:
        exited = [t for t in self._terminals.values() if t.exit is not None]
        for terminal in exited[:-EXITED_KEPT]:
            del self._terminals[terminal.id]
            self._forget(terminal)

    def _forget(self, terminal: Terminal) -> None:
        """It has ended, and nobody finds it any more."""
        self.tally.output += terminal.journal.end
        terminal.retire()

    async def _end(self, terminal: Terminal, grace: float) -> None:
        """End its tree, also of a terminal that has exited: it may have left processes behind."""
        await self._trees.end(
            terminal.pid, signals.SIGHUP, grace, lambda: terminal.exit is not None, mark=terminal.tree_mark
        )
