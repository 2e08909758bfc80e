"""A sandbox's terminals, and the `terminal.*` methods."""

import itertools
import secrets
import signal as signals
from collections.abc import Callable, Iterator

import msgspec

from hawse.api.people import ParticipantEvent, TerminalLease, TerminalPresence, ViewerProfile, WriterLease
from hawse.api.rights import ALL, VIEW, WRITE, allows
from hawse.api.spec import Nothing
from hawse.api.terminals import (
    RecordOptions,
    TerminalAttach,
    TerminalCreate,
    TerminalCreateResult,
    TerminalGet,
    TerminalInfo,
    TerminalKill,
    TerminalKillResult,
    TerminalList,
    TerminalListResult,
    TerminalResize,
    TerminalSignal,
    TerminalSize,
    TerminalViewer,
    TerminalViewers,
    TerminalViewersResult,
    TerminalWaitResult,
    TerminalWatch,
)
from hawse.rpc import handles, serves
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError, Principal
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.journal.journal import JournalPool
from hawse_runtime.posix.environment import Environment
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.spawn import default_shell
from hawse_runtime.rpc.handle_checks import check_running, signal_number
from hawse_runtime.screen.screen_process import ScreenProcess
from hawse_runtime.screen.snapshot_cache import SnapshotCache
from hawse_runtime.terminal.options import TerminalOptions, ViewerOptions
from hawse_runtime.terminal.shell_integration import ShellLaunch, add_commands, integrate
from hawse_runtime.terminal.stats import TerminalStats
from hawse_runtime.terminal.terminal import Terminal
from hawse_runtime.terminal.viewer import Viewer
from hawse_runtime.terminal.watch import ListWatches

RUNNING_LIMIT = 1024
DEFAULT_COLS, DEFAULT_ROWS = 80, 24
DEFAULT_GRACE = 2.0  # seconds from SIGHUP to SIGKILL
CLOSE_GRACE = 0.5  # seconds from SIGHUP to SIGKILL when the runtime shuts down
VIEWERS_SHOWN = 200  # maximum number of viewers listed in a result; pages show only a few of up to 1,024
EXITED_KEPT = 64  # number of exited terminals that remain readable
WATCH_INTERVAL = 1.0  # minimum number of seconds between reports, because programs may change their titles often
ENDS_KEPT = 1024  # number of removed terminals whose end `terminal.wait` can still report


class TerminalMethods:
    """The terminals, keyed by id. Each id has at most one instance, which is running or has exited."""

    def __init__(
        self,
        environment: Environment,
        journals: JournalPool,
        trees: ProcessTrees,
        screens: ScreenProcess,
        looks: ThreadPool,
        *,
        of_each: int | None = None,
    ) -> None:
        """Create the methods, without any terminals.

        Args:
            environment: Environment variables and directories for new programs.
            journals: Creates the journals that store output.
            trees: Ends process trees.
            screens: Emulates the terminals' screens.
            looks: The thread pool for checking whether programs are waiting for input.
            of_each: The maximum number of running terminals per caller without full rights; None means no limit.
        """
        self._of_each = of_each
        self._environment = environment
        self._journals = journals
        self._trees = trees
        self._screens = screens
        self._looks = looks
        self.registry: Registry[Terminal] = Registry(
            "terminal", limit=RUNNING_LIMIT, retention=Retention(EXITED_KEPT), on_drop=self._dropped
        )
        self._ends: dict[str, tuple[str, TerminalWaitResult]] = {}  # removed terminals' ids and ends, keyed by instance
        self._watches = ListWatches("terminals", self._visible, interval=WATCH_INTERVAL)
        self.snapshots = SnapshotCache()
        self.stats = TerminalStats()
        # A hook set by `QuestionMethods`. It is called when a terminal has changed, as reported by `terminal.watch`.
        self.on_change: Callable[[Terminal], None] = lambda terminal: None
        # A hook set by `RecordingMethods`. It returns a function that starts recording a new terminal, and may raise an
        # exception.
        self.recording: Callable[[RecordOptions], Callable[[Terminal], None]] | None = None

    def __len__(self) -> int:
        return len(self.registry)

    def __iter__(self) -> Iterator[Terminal]:
        return iter(self.registry)

    @property
    def output(self) -> int:
        """The total number of bytes printed by all terminals, including removed ones."""
        return self.stats.output + sum(terminal.journal.end for terminal in self)

    def get(self, terminal_id: str, instance: str | None = None) -> Terminal:
        """Return a terminal by id. Raises `not_found` or `stale_handle`."""
        return self.registry.get(terminal_id, instance)

    @handles(TerminalCreate, caller=True)
    def create(self, params: TerminalCreate, caller: Principal) -> TerminalCreateResult:
        """Start a terminal unless one with this id is running. Never awaits, so concurrent calls can't start two."""
        terminal_id = params.id or f"t-{secrets.token_hex(4)}"
        existing = self.registry.find(terminal_id)
        if existing is not None and existing.exit is None:
            return _created(existing, created=False)
        self._check_number(caller)
        begin = self._recording(params.record)
        cwd = self._environment.cwd(params.cwd)
        env = add_commands(self._environment.build(params.env, cwd=cwd, terminal=True))
        argv = params.argv or [default_shell(env)]
        start = ShellLaunch(argv, env, False) if params.integration is False else integrate(argv, env)
        options = TerminalOptions(
            argv=start.argv,
            cwd=cwd,
            env=start.env,
            cols=params.cols or DEFAULT_COLS,
            rows=params.rows or DEFAULT_ROWS,
            shown_argv=argv,
            integrated=start.integrated,
            creator=caller.id,
        )
        with self.registry.reserve(terminal_id):
            terminal = Terminal(
                *(terminal_id, options, self._journals.journal(), self.snapshots, self._screens, self._looks),
                on_exit=self.registry.end,
                on_change=self._changed,
                stats=self.stats,
            )
            self.registry.add(terminal)
        self._watches.note_change()
        if begin is not None:
            begin(terminal)
        return _created(terminal, created=True)

    def _check_number(self, caller: Principal) -> None:
        if self._of_each is None or ALL in caller.rights:
            return
        if sum(one.creator == caller.id for one in self if one.exit is None) >= self._of_each:
            text = f"{caller.id!r} has reached the limit of {self._of_each} running terminals"
            raise HawseError("limit_exceeded", text)

    def _recording(self, policy: RecordOptions | bool | None) -> Callable[[Terminal], None] | None:
        """Return a function that starts recording a new terminal, or None if `policy` doesn't ask for it.

        Must be called before the terminal starts, so that the recording is complete.

        """
        if not policy or self.recording is None:
            return None
        return self.recording(policy if isinstance(policy, RecordOptions) else RecordOptions())

    async def close(self) -> None:
        """End all terminals along with their programs."""
        await self.registry.close(lambda terminal: self._end(terminal, CLOSE_GRACE))
        self._watches.close()

    @serves(TerminalAttach)
    def _attach(self, call: ServerCall, params: TerminalAttach) -> None:
        terminal = self.get(params.id, params.instance)
        if params.since is not None and params.since > terminal.journal.end:
            raise beyond_end(params.since, terminal)
        # A caller without write access must not be able to slow down the program with a lossless viewer.
        watches_only = not allows(call.principal.rights, WRITE, terminal.id)
        options = ViewerOptions(
            since=params.since,
            input_id=params.input,
            lossless=bool(params.lossless) and not watches_only,
            emulator=bool(params.emulator),
            read_only=bool(params.read_only) or watches_only,
            profile=params.viewer or ViewerProfile(),
            fit=(params.cols, params.rows) if params.cols and params.rows else None,
        )
        self._screens.warm_soon()
        viewer = Viewer(terminal, call, options)
        viewer.attach()
        call.serve(viewer)

    @handles(TerminalResize)
    def _resize(self, params: TerminalResize) -> TerminalSize:
        terminal = self.get(params.id)
        if params.viewer is None:
            terminal.resize(params.cols, params.rows)
        else:
            participant = terminal.participants.find(params.viewer)
            terminal.participants.set_fit(participant, (params.cols, params.rows), claim=bool(params.claim))
        cols, rows = terminal.size
        return TerminalSize(cols=cols, rows=rows)

    @handles(TerminalSignal)
    def _signal(self, params: TerminalSignal) -> Nothing:
        terminal = self.get(params.id)
        signum = signal_number(params.signal)
        check_running("terminal", terminal)
        terminal.signal(signum)
        return Nothing()

    @handles(TerminalKill)
    async def _kill(self, params: TerminalKill) -> TerminalKillResult:
        terminal = self.get(params.id, params.instance)
        await self._end(terminal, DEFAULT_GRACE if params.grace is None else params.grace)
        assert terminal.exit is not None
        return TerminalKillResult(exit=terminal.exit)

    @handles(TerminalList, caller=True)
    def _list(self, params: TerminalList, caller: Principal) -> TerminalListResult:
        return self._visible(caller)

    @serves(TerminalWatch)
    def _watch(self, call: ServerCall, params: TerminalWatch) -> None:
        self._watches.serve(call)

    def _visible(self, caller: Principal) -> TerminalListResult:
        visible = [terminal for terminal in self.registry if allows(caller.rights, VIEW, terminal.id)]
        return TerminalListResult(terminals=[terminal.describe() for terminal in visible])

    @handles(TerminalViewers, caller=True)
    def _viewers(self, params: TerminalViewers, caller: Principal) -> TerminalViewersResult:
        whole = allows(caller.rights, VIEW)
        visible = [terminal for terminal in self.registry if allows(caller.rights, VIEW, terminal.id)]
        present = (
            TerminalViewer(terminal=terminal.id, viewer=participant.describe(whole=whole))
            for terminal in visible
            for participant in terminal.participants
        )
        total = sum(len(terminal.participants) for terminal in visible)
        return TerminalViewersResult(viewers=list(itertools.islice(present, VIEWERS_SHOWN)), total=total)

    @handles(TerminalGet)
    def _get(self, params: TerminalGet) -> TerminalInfo:
        return self.get(params.id, params.instance).describe()

    @handles(TerminalPresence)
    def _presence(self, params: TerminalPresence) -> ParticipantEvent:
        return self.get(params.id).participants.set_presence(params)

    @handles(TerminalLease)
    def _lease(self, params: TerminalLease) -> WriterLease:
        return self.get(params.id).participants.set_lease(params)

    def end_of(self, terminal_id: str, instance: str | None) -> TerminalWaitResult | None:
        """Return how a removed terminal ended, or None if that is no longer known."""
        terminal, end = self._ends.get(instance or "", ("", None))
        return end if terminal == terminal_id else None

    def _changed(self, terminal: Terminal) -> None:
        self._watches.note_change()
        self.on_change(terminal)

    def _dropped(self, terminal: Terminal) -> None:
        """Release a removed terminal's resources."""
        offset = terminal.journal.end
        if terminal.exit is not None:
            end = TerminalWaitResult(start=offset, event="exit", offset=offset, exit=terminal.exit)
            self._ends[terminal.instance] = (terminal.id, end)
            if len(self._ends) > ENDS_KEPT:
                del self._ends[next(iter(self._ends))]
        self.stats.output += terminal.journal.end
        terminal.retire()
        self._watches.note_change()

    async def _end(self, terminal: Terminal, grace: float) -> None:
        """End the terminal's process tree. This is needed even if the terminal's program has exited, because other
        processes of the tree may still be running.
        """
        await self._trees.end(
            terminal.pid, signals.SIGHUP, grace, lambda: terminal.exit is not None, mark=terminal.tree_mark
        )


def _created(terminal: Terminal, *, created: bool) -> TerminalCreateResult:
    return TerminalCreateResult(**msgspec.structs.asdict(terminal.describe()), created=created)


def beyond_end(since: int, terminal: Terminal) -> HawseError:
    """Return the error for an offset past the end of the output."""
    end = terminal.journal.end
    return HawseError(
        "invalid_params", f"since ({since}) is beyond the end of the output ({end})", details={"offset": end}
    )
