"""Sessions: a shell that lives on, whose commands share directory, variables, functions and aliases."""

import secrets
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Protocol, TypeVar

import msgspec

from hawse.api import Params
from hawse.api.processes import StreamOffsets
from hawse.api.sessions import (
    SessionCreate,
    SessionDelete,
    SessionExecOpened,
    SessionExecResult,
    SessionGet,
    SessionInfo,
    SessionProcess,
    SessionWatch,
    SessionWatchResult,
)
from hawse.api.types import Exit, StreamName
from hawse.client.base.errors import CommandError
from hawse.client.base.results import CommandResult
from hawse.client.calls.call import ClientCall
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import BytesLike
from hawse.client.process.exec import Command, ExecCall, program, write_stdin
from hawse.client.process.process import Process
from hawse.wire import HawseError

OUTPUT_LIMIT = 64 << 20  # bytes of each stream that `exec` keeps
GONE = frozenset({"not_found", "stale_handle"})  # nothing is left to delete

Env = Mapping[str, str | None]
T = TypeVar("T")


class SessionResult(CommandResult, frozen=True):
    """A command's end. `ended`: the shell has gone with it (`exit`, `exec`, a kill): create another session."""

    ended: bool = False


class SessionExecAttach(Protocol):
    """`Sandbox.attach_process`."""

    async def __call__(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process: ...


class SessionCall(ExecCall):
    """`session.exec`. It is opened when its turn comes; a repeat joins the same run, or gets back into the queue."""

    def __init__(
        self, sandbox: str, params: dict[str, Any], *, key: str | None, stdin: bool, window: int, limit: int
    ) -> None:
        super().__init__(sandbox, params, key=key, stdin=stdin, window=window, limit=limit)
        self.method = "session.exec"

    def opened_of(self, value: msgspec.Raw) -> SessionExecOpened:
        return parse(value, SessionExecOpened)

    def finished(self, value: msgspec.Raw) -> SessionResult:
        end = parse(value, SessionExecResult)
        stdout, stderr, truncated = self.kept(StreamOffsets(stdout=end.stdout, stderr=end.stderr))
        return SessionResult(end.code, end.signal, end.timed_out, end.oom, stdout, stderr, truncated, end.ended)


class Session:
    """`async with sandbox.session() as s: await s.exec("cd /tmp"); …`

    Entering creates it; leaving deletes it with all that it started, unless `detach` was called. Its commands run one
    at a time, in the order in which they were asked for, by whomever; sessions do not wait for each other.
    """

    def __init__(
        self,
        calls: CallTable,
        sandbox: str,
        wanted: dict[str, Any],
        *,
        create: bool,
        window: int,
        attach: SessionExecAttach,
    ) -> None:
        self.instance = ""  # which session of that id: new for each that is created
        self._calls = calls
        self._sandbox = sandbox
        self._wanted = wanted
        self._create = create
        self._window = window
        self._attach = attach
        self._detached = not create

    @property
    def id(self) -> str:
        return str(self._wanted["id"])

    async def __aenter__(self) -> "Session":
        """Raises `conflict` if one of that id lives, `spawn_failed`, `limit_exceeded`; `not_found` if not to create."""
        if not self._create:
            self.instance = (await self.info()).instance
            return self
        own = self._wanted["id"] is None
        if own:
            self._wanted["id"] = f"s-{secrets.token_hex(6)}"
        try:
            created = await self._request(SessionCreate(**self._wanted))
        except BaseException:
            if own:  # it may have been created, and nobody else can know it
                self._calls.post(ClientCall(SessionDelete(id=self.id), sandbox=self._sandbox))
            raise
        self.instance = created.instance
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._detached:
            await self.delete()

    def detach(self) -> None:
        """Leave it alive when the `async with` is left."""
        self._detached = True

    # ---- commands

    async def exec(
        self,
        command: str,
        *,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: BytesLike | None = None,
        timeout: float | None = None,
        check: bool = False,
        key: str | None = None,
        max_output: int = OUTPUT_LIMIT,
    ) -> SessionResult:
        """Run a command in the session's shell, when those before it have ended, and return what it printed.

        What it does to the shell stays. `cwd` (a relative one begins at the session's) and `env` (None unsets) are
        for this command alone. Without `stdin` it reads from /dev/null. After `timeout` seconds, counted from its
        turn, what it started is killed and the shell drops the rest: the code is 124 and the result says
        `timed_out`; the session lives. `key`: the same key again, from anywhere, joins the same run. `max_output`:
        bytes of each stream that are kept; the result says `truncated`. Being cancelled takes it out of the queue, or,
        when it runs, leaves it running.

        Raises `exited` if the shell has ended before (`details["exit"]` says how) or the session was deleted,
        `CommandError` if `check` and the code is not 0 or output was cut; `limit_exceeded`, `not_found`,
        `stale_handle`, `spawn_failed` for a `cwd` that does not exist, `TruncatedError`, and what ends a client.
        """
        params = program(command, cwd=cwd, env=env, timeout=timeout) | self._named()
        has_input = stdin is not None
        call = SessionCall(self._sandbox, params, key=key, stdin=has_input, window=self._window, limit=max_output)
        try:
            self._calls.submit(call)
            if stdin is not None:
                await write_stdin(call, stdin)
            result: SessionResult = await self._calls.outcome(call)
        finally:
            self._calls.abandon(call)
        if check and (not result.ok or result.truncated):
            raise CommandError(result)
        return result

    async def start(
        self,
        command: Command,
        *,
        id: str | None = None,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: bool = False,
        timeout: float | None = None,
    ) -> Process:
        """Start a process from what the session is when its turn comes, and attach to it: see `Sandbox.start`.

        It has the session's directory and exported environment and, if `command` is a string, its aliases and, of
        bash, functions and options. It changes nothing of the session, and outlives it. Raises `exited` as `exec` does,
        and as `Sandbox.start`.
        """
        what = program(command, cwd=cwd, env=env, timeout=timeout)
        instance = self.instance or None
        started = SessionProcess(**what, session=self.id, instance=instance, id=id, stdin=stdin or None)
        info = await self._request(started)
        return await self._attach(info.id, instance=info.instance, since={"stdout": 0, "stderr": 0})

    # ---- life

    async def info(self) -> SessionInfo:
        """What it is, and whether it still lives. Raises `not_found`."""
        return await self._request(SessionGet(id=self.id))

    async def wait(self) -> Exit:
        """Wait until its shell has ended, by whatever; return how. Raises `not_found`, `stale_handle`."""
        watch = SessionWatch(**self._named())
        call = ClientCall(watch, sandbox=self._sandbox, repeats=True, window=self._window)
        ended: SessionWatchResult = await self._calls.perform(call)
        return ended.exit

    async def delete(self, *, grace: float | None = None) -> None:
        """End the shell with all that it started, and forget it: TERM, then KILL after `grace` seconds (5)."""
        try:
            await self._request(SessionDelete(**self._named(), grace=grace))
        except HawseError as error:
            if error.code not in GONE:
                raise

    # ---- inside

    def _named(self) -> dict[str, Any]:
        return {"id": self.id, "instance": self.instance or None}

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
