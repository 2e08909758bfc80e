"""A sandbox's sessions, and the `session.*` methods."""

import asyncio
import os
import secrets
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from hawse.api import Nothing, processes as api_processes
from hawse.api.processes import ProcessInfo
from hawse.api.sessions import (
    SessionCancel,
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
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.private_tempdir import PrivateTempDir
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.core.remove_tree import remove_tree
from hawse_runtime.posix.environment import Environment
from hawse_runtime.process.launcher import command_shell
from hawse_runtime.process.methods import ProcessMethods
from hawse_runtime.process.process import ProcessContext
from hawse_runtime.session.command import SessionCommand, SessionCommandStream
from hawse_runtime.session.session import Session, SessionLimits
from hawse_runtime.session.shell import ShellOptions
from hawse_runtime.session.shell_script import NAME, snapshot
from hawse_runtime.session.state_export import process_argv, read
from hawse_runtime.session.watch import SessionWatchStream

CLOSING_GRACE = 0.5  # seconds from SIGTERM to SIGKILL when the runtime shuts down


class SessionMethods:
    """Sessions, whether running or ended, along with their commands, which are keyed by idempotency key."""

    def __init__(
        self,
        environment: Environment,
        context: ProcessContext,
        limits: SessionLimits,
        idempotency: IdempotencyTable,
        processes: ProcessMethods,
    ) -> None:
        """Create the methods.

        Args:
            environment: Environment variables and directories for new shells.
            context: Objects shared by all of the runtime's programs.
            limits: Limits on sessions.
            idempotency: Stores the outcomes of keyed commands.
            processes: Starts processes for `session.process`.
        """
        self._environment = environment
        self._context = context
        self._limits = limits
        self._idempotency = idempotency
        self._processes = processes
        self._sessions: Registry[Session] = Registry(
            "session", limit=limits.running, retention=Retention(count=limits.ended)
        )
        self._finished: deque[SessionCommand] = deque()  # ended keyed commands whose complete output is kept
        self._folder: PrivateTempDir | None = None

    def __len__(self) -> int:
        """The number of running sessions."""
        return self._sessions.running_count

    @property
    def busy(self) -> list[str]:
        """The ids of sessions that are busy with a command."""
        return [session.id for session in self._sessions.running if session.busy]

    def directory(self, session_id: str) -> str:
        """Return a session's current directory. Raises `not_found`, or `exited` if the session has ended."""
        return self._sessions.get(session_id).directory()

    async def close(self) -> None:
        """End all sessions and their process trees."""
        await self._sessions.close(lambda session: session.end(CLOSING_GRACE))
        if self._folder is not None:
            self._folder.close()

    # ---- lifetime of a session

    @handles(SessionCreate)
    async def _create(self, params: SessionCreate) -> SessionInfo:
        session_id = params.id or f"s-{secrets.token_hex(4)}"
        with self._sessions.reserve(session_id):
            cwd = self._environment.cwd(params.cwd)
            _check_names(params.env or {})
            options = ShellOptions(
                path=params.shell or command_shell(),
                folder=self._new_folder(),
                cwd=cwd,
                env=self._environment.build(params.env, cwd=cwd),
            )
            session = Session(
                *(session_id, options, self._context, self._limits, self._sessions.end),
                command_timeout=params.command_timeout,
            )
            self._sessions.add(session)
        try:
            await session.ready()
        except BaseException:
            self._sessions.drop(session)
            raise
        return session.describe()

    @handles(SessionList)
    def _list(self, params: SessionList) -> SessionListResult:
        return SessionListResult(sessions=[session.describe() for session in self._sessions])

    @handles(SessionGet)
    def _get(self, params: SessionGet) -> SessionInfo:
        return self._sessions.get(params.id).describe()

    @serves(SessionWatch)
    def _watch(self, call: ServerCall, params: SessionWatch) -> None:
        call.serve(SessionWatchStream(self._sessions.get(params.id, params.instance), call))

    @handles(SessionDelete)
    async def _delete(self, params: SessionDelete) -> Nothing:
        session = self._sessions.get(params.id, params.instance)
        await session.end(self._limits.kill_grace if params.grace is None else params.grace)
        self._sessions.drop(session)
        return Nothing()

    # ---- commands

    @serves(SessionExec)
    def _exec(self, call: ServerCall, params: SessionExec) -> None:
        identity = msgspec.structs.replace(params, since=None, input=None, max_output=None)
        run = self._idempotency.attach_or_start(call, identity, lambda outcome: self._start(params, outcome))
        call.serve(SessionCommandStream(run, call, params, self._detached))

    def _start(self, params: SessionExec, outcome: Outcome) -> SessionCommand:
        if params.since is not None and (params.since.stdout or params.since.stderr):
            message = "`since` must be 0, because the command has not run yet and has no output"
            raise HawseError("invalid_params", message, details={"path": "$.since"})
        session = self._sessions.get(params.id, params.instance)
        run = self._new_run(session, params, lambda run: self._settled(run, outcome), key=outcome.key)
        try:
            session.submit(run)
        except HawseError as error:
            run.fail(error)
            raise
        return run

    def _new_run(
        self,
        session: Session,
        params: SessionExec,
        on_settled: Callable[[SessionCommand], None],
        *,
        key: str | None = None,
    ) -> SessionCommand:
        try:
            return SessionCommand(params, session.instance, self._new_folder(), self._context, on_settled, key=key)
        except OSError as error:
            raise typed(error) from None

    def _settled(self, run: SessionCommand, outcome: Outcome) -> None:
        if run.error is not None:
            outcome.fail(run.error)
            run.shrink()
            return
        outcome.succeed()
        if outcome.key is None:
            return
        self._finished.append(run)
        if len(self._finished) > self._limits.keyed_commands:
            self._finished.popleft().shrink()

    def _detached(self, run: SessionCommand) -> None:
        """Handle the end of a call. Withdraw the call's command if it is still queued and no other call is attached."""
        session = self._sessions.find(run.params.id)
        if not run.begun and not run.readers and session is not None:
            session.withdraw(run)

    @handles(SessionCancel)
    async def _cancel(self, params: SessionCancel) -> Nothing:
        session = self._sessions.get(params.id, params.instance)
        await session.cancel(params.key, self._limits.kill_grace if params.grace is None else params.grace)
        return Nothing()

    # ---- processes

    @handles(SessionProcess)
    async def _process(self, params: SessionProcess) -> ProcessInfo:
        session = self._sessions.get(params.session, params.instance)
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
                ),
                session.id,
            )
        except BaseException:
            kept.unlink(missing_ok=True)
            raise

    # ---- internals

    def _new_folder(self) -> Path:
        """Return an unused path in the private directory for a session or command."""
        if self._folder is None:
            self._folder = PrivateTempDir()
        return self._folder.path / secrets.token_hex(6)


def _check_names(env: dict[str, str | None]) -> None:
    for name in env:
        if NAME.fullmatch(name) is None:
            raise HawseError("invalid_params", f"{name!r} is not a valid shell variable name")
