"""The sessions of a sandbox, and the `session.*` methods."""

import asyncio
import logging
import os
import secrets
from collections import OrderedDict, deque
from pathlib import Path
from typing import Any

import msgspec

from hawse.api import Nothing
from hawse.api import processes as api_processes
from hawse.api.processes import ProcessInfo
from hawse.api.sessions import (
    SessionCreate,
    SessionDelete,
    SessionExec,
    SessionGet,
    SessionInfo,
    SessionList,
    SessionListResult,
    SessionProcess,
    SessionWatch,
)
from hawse.rpc import IdempotencyTable, Outcome, handles, serves, typed
from hawse.rpc.call import RuntimeCall
from hawse.wire import HawseError
from runtime.core.remove_tree import remove_tree
from runtime.core.tasks import Tasks
from runtime.core.thread_pool import ThreadPool
from runtime.journal.journal import JournalPool
from runtime.posix.environment import Environment
from runtime.posix.orphaned_pipes import OrphanedPipes
from runtime.posix.process_tree import ProcessTrees
from runtime.process.launcher import command_shell
from runtime.process.methods import ProcessMethods
from runtime.process.process import KILL_GRACE
from runtime.session.command import SessionCommand, SessionCommandStream
from runtime.session.private_tempdir import PrivateTempDir
from runtime.session.session import Session
from runtime.session.shell_script import NAME, snapshot
from runtime.session.state_export import process_argv, read
from runtime.session.watch import SessionWatchStream

log = logging.getLogger(__name__)

LIMIT = 256  # running sessions: each is a process and two pipes
RUNS_KEPT = 64  # ended commands with a key that keep their whole output
ENDED_KEPT = 64  # ended sessions that `session.get` still describes


class SessionMethods:
    """The sessions by id, and their commands by key."""

    def __init__(
        self,
        environment: Environment,
        journals: JournalPool,
        outcomes: IdempotencyTable,
        tasks: Tasks,
        trees: ProcessTrees,
        processes: ProcessMethods,
        orphaned_pipes: OrphanedPipes,
        disk: ThreadPool,
    ) -> None:
        self._environment = environment
        self._journals = journals
        self._outcomes = outcomes
        self._tasks = tasks
        self._trees = trees
        self._processes = processes
        self._orphaned_pipes = orphaned_pipes
        self._disk = disk
        self._sessions: dict[str, Session] = {}
        self._ended: OrderedDict[Session, None] = OrderedDict()
        self._finished: deque[SessionCommand] = deque()  # those with a key, the latest RUNS_KEPT
        self._folder: PrivateTempDir | None = None

    def __len__(self) -> int:
        return sum(session.exit is None for session in self._sessions.values())

    def get(self, session_id: str, instance: str | None = None) -> Session:
        session = self._sessions.get(session_id)
        if session is None:
            raise HawseError("not_found", f"session {session_id} does not exist")
        if instance is not None and instance != session.instance:
            raise HawseError("stale_handle", f"session {session_id} was created again: instance {instance} has ended")
        return session

    async def close(self) -> None:
        """End every session with its tree."""
        living = [session for session in self._sessions.values() if session.exit is None]
        for error in await asyncio.gather(*(session.end(0.5) for session in living), return_exceptions=True):
            if error is not None:
                log.error("! a session was not ended: %s", error)
        if self._folder is not None:
            self._folder.close()

    # ---- the life of a session

    @handles(SessionCreate)
    async def _create(self, params: SessionCreate) -> SessionInfo:
        session_id = params.id or f"s-{secrets.token_hex(4)}"
        existing = self._sessions.get(session_id)
        if existing is not None and existing.exit is None:
            raise HawseError("conflict", f"session {session_id} is running")
        if len(self) >= LIMIT:
            raise HawseError("limit_exceeded", f"session limit reached: {LIMIT} are running")
        cwd = self._environment.cwd(params.cwd)
        _check_names(params.env or {})
        session = Session(
            session_id,
            params.shell or command_shell(),
            cwd=cwd,
            env=self._environment.build(params.env, cwd=cwd),
            folder=self._new_folder(),
            tasks=self._tasks,
            trees=self._trees,
            disk=self._disk,
            on_end=self._has_ended,
        )
        if existing is not None:
            self._ended.pop(existing, None)
        self._sessions[session_id] = session
        try:
            await session.ready()
        except BaseException:
            self._forget(session)
            raise
        return session.describe()

    @handles(SessionList)
    def _list(self, params: SessionList) -> SessionListResult:
        return SessionListResult(sessions=[session.describe() for session in self._sessions.values()])

    @handles(SessionGet)
    def _get(self, params: SessionGet) -> SessionInfo:
        return self.get(params.id).describe()

    @serves(SessionWatch)
    def _watch(self, call: RuntimeCall, params: SessionWatch) -> None:
        call.serve(SessionWatchStream(self.get(params.id, params.instance), call))

    @handles(SessionDelete)
    async def _delete(self, params: SessionDelete) -> Nothing:
        session = self.get(params.id, params.instance)
        await session.end(KILL_GRACE if params.grace is None else params.grace)
        self._forget(session)
        return Nothing()

    def _has_ended(self, session: Session) -> None:
        self._ended[session] = None
        if len(self._ended) > ENDED_KEPT:
            self._forget(next(iter(self._ended)))

    def _forget(self, session: Session) -> None:
        self._ended.pop(session, None)
        if self._sessions.get(session.id) is session:
            del self._sessions[session.id]

    # ---- commands

    @serves(SessionExec)
    def _exec(self, call: RuntimeCall, params: SessionExec) -> None:
        identity = msgspec.structs.replace(params, since=None, input=None, max_output=None)
        run = self._outcomes.attach_or_start(call, identity, lambda outcome: self._start(params, outcome))
        call.serve(SessionCommandStream(run, call, params, self._gone))

    def _start(self, params: SessionExec, outcome: Outcome) -> SessionCommand:
        if params.since is not None and (params.since.stdout or params.since.stderr):
            message = "`since` must be 0: the command has not been run yet, so it has no output"
            raise HawseError("invalid_params", message, details={"path": "$.since"})
        session = self.get(params.id, params.instance)
        run = self._new_run(session, params, lambda run: self._keep(run, outcome))
        try:
            session.submit(run)
        except HawseError as error:
            run.fail(error)
            raise
        return run

    def _new_run(self, session: Session, params: SessionExec, on_settled: Any) -> SessionCommand:
        try:
            folder, journal = self._new_folder(), self._journals.journal
            return SessionCommand(params, session.instance, folder, journal, self._orphaned_pipes, on_settled)
        except OSError as error:
            raise typed(error) from None

    def _keep(self, run: SessionCommand, outcome: Outcome) -> None:
        if run.error is not None:
            outcome.fail(run.error)
            run.shrink()
            return
        outcome.succeed()
        if outcome.key is None:
            return
        self._finished.append(run)
        if len(self._finished) > RUNS_KEPT:
            self._finished.popleft().shrink()

    def _gone(self, run: SessionCommand) -> None:
        """A call has closed. A command that has not begun and has no other call is withdrawn from the queue."""
        session = self._sessions.get(run.params.id)
        if not run.begun and not run.readers and session is not None:
            session.withdraw(run)

    # ---- processes

    @handles(SessionProcess)
    async def _process(self, params: SessionProcess) -> ProcessInfo:
        session = self.get(params.session, params.instance)
        folder = self._new_folder()
        folder.mkdir(mode=0o700)
        done = asyncio.Event()
        try:
            command = SessionExec(id=session.id, command=snapshot(session.shell, str(folder)))
            run = self._new_run(session, command, lambda run: done.set())
            run.silent = True
            try:
                session.submit(run)
            except HawseError as error:
                run.fail(error)
            await done.wait()
            run.result()
            state = read(folder)
            kept = folder.parent / f"{folder.name}.state"
            if params.argv is None:
                (folder / "state").rename(kept)
        finally:
            remove_tree(folder)
        here = self._environment.cwd(None)
        missing: dict[str, str | None] = dict.fromkeys(self._environment.build(None, cwd=here))
        try:
            return self._processes.start(
                api_processes.ProcessStart(
                    id=params.id,
                    argv=process_argv(session.shell, state._replace(state=kept), params.argv, params.command),
                    cwd=os.path.join(state.cwd, params.cwd or ""),
                    env=missing | state.env | (params.env or {}),
                    stdin=params.stdin,
                    timeout=params.timeout,
                )
            )
        except BaseException:
            kept.unlink(missing_ok=True)
            raise

    # ---- inside

    def _new_folder(self) -> Path:
        """Return a new path in the private directory, for a session or a command."""
        if self._folder is None:
            self._folder = PrivateTempDir()
        return self._folder.path / secrets.token_hex(6)


def _check_names(env: dict[str, str | None]) -> None:
    for name in env:
        if NAME.fullmatch(name) is None:
            raise HawseError("invalid_params", f"{name!r} is not a valid name of a shell variable")
