"""A sandbox: its commands, processes, sessions, code, terminals, recordings, files, watches, ports and git.

If a connection is lost, calls that change something are repeated with a key, so they run once, and streams resume.
"""

import secrets
from typing import Literal, Unpack

from hawse.api.code import CodeContextInfo, CodeCreate, CodeLanguage, CodeLanguages, CodeList, CodeRun
from hawse.api.people import ViewerProfile
from hawse.api.recordings import RecordingInfo, RecordingList, RecordingListResult, RecordingWatch
from hawse.api.runtime import RuntimeInfo, RuntimeInfoResult, RuntimeMetrics, RuntimeMetricsResult
from hawse.api.sessions import SessionCreate, SessionInfo, SessionList
from hawse.api.terminals import TerminalAttach, TerminalCreate, TerminalInfo, TerminalList
from hawse.client.base.options import Options
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.client.code.context import OUTPUT_LIMIT, Callbacks, CodeContext, collect, run_stream
from hawse.client.code.results import CodeResult
from hawse.client.files.files import Files
from hawse.client.git import Git
from hawse.client.lifecycle import Lifecycle
from hawse.client.ports import Ports
from hawse.client.process.execution import Execution
from hawse.client.process.program import Env, directory, environment
from hawse.client.process.session import Session
from hawse.client.terminal.attach import TerminalAttachCall
from hawse.client.terminal.recording import Recording
from hawse.client.terminal.terminal import Terminal
from hawse.client.watch import Watches


class Sandbox(Lifecycle, Execution):
    """A handle to one sandbox. It holds nothing open."""

    def __init__(self, calls: CallTable, id: str, options: Options, *, gateway: str = "") -> None:
        """Create a handle.

        Args:
            calls: The calls of the client.
            id: The id of the sandbox.
            options: The options of the client.
            gateway: The HTTP URL of the gateway, for the URLs of previews.
        """
        super().__init__(calls, id, options)
        self._gateway = gateway

    async def info(self) -> RuntimeInfoResult:
        """Return the version and the state of the sandbox's runtime."""
        return await self._request(RuntimeInfo())

    async def url(self, port: int) -> str:
        """Return the address of a preview of a port, which is made unless it exists. Raises `forbidden`."""
        return (await self.ports.expose(port)).url

    async def metrics(self) -> RuntimeMetricsResult:
        """Return the counters of the sandbox's runtime."""
        return await self._request(RuntimeMetrics())

    # ---- sessions

    def session(
        self,
        id: str | None = None,
        *,
        cwd: str | None = None,
        env: Env | None = None,
        shell: str | None = None,
        command_timeout: float | None = None,
        create: bool = True,
    ) -> Session:
        """Return a persistent shell, to be entered with `async with`: see `Session`.

        Args:
            id: The id of the session; None: a random one.
            cwd: Its working directory at first.
            env: Is added to its environment; None unsets a variable.
            shell: The path of the shell; None: bash.
            command_timeout: Seconds after which a command is killed whose `exec` has no `timeout`; None: never.
            create: Whether entering creates it, and leaving deletes it. False uses the existing one with that `id`.

        Raises:
            ValueError: `create` is false, and there is no `id`.
        """
        if id is None and not create:
            raise ValueError("create=False requires the id of a session")
        wanted = SessionCreate(
            id=id, cwd=directory(cwd), env=environment(env), shell=shell, command_timeout=command_timeout
        )
        return Session(self._calls, self.id, wanted, create=create, window=self._window, attach=self.attach_process)

    async def sessions(self) -> list[SessionInfo]:
        """Return the sessions that live, and the latest that have ended."""
        return (await self._request(SessionList())).sessions

    # ---- code

    def code(
        self,
        language: str | None = None,
        *,
        id: str | None = None,
        kernel: str | None = None,
        cwd: str | None = None,
        env: Env | None = None,
        timeout: float | None = None,
        create: bool = True,
    ) -> CodeContext:
        """Return a code context, to be entered with `async with`: see `CodeContext`.

        Args:
            language: The language; None: that of `kernel`, or python.
            id: The id of the context; None: a random one.
            kernel: The name of an installed Jupyter kernel; None: the one for `language`.
            cwd: Its working directory at first.
            env: Is added to its environment; None unsets a variable.
            timeout: Seconds after which a run is ended that names no time; None: never.
            create: Whether entering creates it, and leaving deletes it. False uses the existing one with that `id`.

        Raises:
            ValueError: `create` is false, and there is no `id`.
        """
        if id is None and not create:
            raise ValueError("create=False requires the id of a context")
        wanted = CodeCreate(
            id=id, language=language, kernel=kernel, cwd=directory(cwd), env=environment(env), timeout=timeout
        )
        return CodeContext(self._calls, self.id, wanted, create=create, window=self._window)

    async def run_code(
        self,
        source: str,
        language: str | None = None,
        *,
        timeout: float | None = None,
        key: str | None = None,
        max_output: int = OUTPUT_LIMIT,
        **callbacks: Unpack[Callbacks],
    ) -> CodeResult:
        """Run code in a new executor that is ended afterwards: see `CodeContext.run`.

        Args:
            source: The code.
            language: The language; None: python.
            timeout: Seconds after which it is ended; None: never.
            key: The same key again, from any client, joins the same run.
            max_output: The first bytes of stdout and of stderr that are kept.
            callbacks: `on_stdout`, `on_stderr`, `on_result`, `on_error`, `on_input`: see `Callbacks`.

        Raises:
            HawseError: `language_unavailable`, `spawn_failed`, and what closed the client.
        """
        stdin = "on_input" in callbacks or None
        params = CodeRun(source=source, language=language, timeout=timeout, stdin=stdin)
        stream = run_stream(self._calls, params, sandbox=self.id, key=key, window=self._window)
        return await collect(stream, callbacks, max_output)

    async def code_contexts(self) -> list[CodeContextInfo]:
        """Return all code contexts."""
        return (await self._request(CodeList())).contexts

    async def languages(self) -> list[CodeLanguage]:
        """Return the languages of code contexts, installed and known."""
        return (await self._request(CodeLanguages())).languages

    # ---- terminals

    def terminal(
        self,
        id: str | None = None,
        *,
        argv: list[str] | None = None,
        cwd: str | None = None,
        env: Env | None = None,
        cols: int = 80,
        rows: int = 24,
        create: bool = True,
        read_only: bool = False,
        lossless: bool = False,
        emulator: bool = False,
        name: str | None = None,
        kind: Literal["person", "agent"] = "agent",
        instance: str | None = None,
        since: int | None = None,
    ) -> Terminal:
        """Return a terminal, to be entered with `async with`: see `Terminal`. Leaving detaches.

        Args:
            id: The id of the terminal; None: a random one.
            argv: The program; None: the user's shell.
            cwd: Its working directory.
            env: Is added to its environment; None unsets a variable.
            cols: Columns of a new terminal.
            rows: Rows of a new terminal.
            create: Whether entering creates the terminal, unless one of that `id` runs.
            read_only: Whether this viewer cannot type.
            lossless: Whether the program waits for this viewer instead of a snapshot replacing output: up to 30 s
                while the viewer makes no progress or has no connection.
            emulator: Whether this viewer's emulator can answer a program's queries: see `Terminal.answers`.
            name: The name that other viewers see.
            kind: The kind that other viewers see.
            instance: Only this instance of the `id`, which is not created.
            since: The offset to begin at; None: everything that is kept is replayed.

        Raises:
            ValueError: There is no `id`, and the terminal is not to be created.
        """
        if id is None and (instance is not None or not create):
            raise ValueError("attaching to an existing terminal requires its id")
        wanted = None
        if create and instance is None:
            wanted = TerminalCreate(id=id, argv=argv, cwd=directory(cwd), env=environment(env), cols=cols, rows=rows)
        attach = TerminalAttach(
            id=id or "",
            instance=instance,
            read_only=read_only or None,
            lossless=lossless or None,
            emulator=emulator or None,
            viewer=ViewerProfile(key=secrets.token_hex(16), name=name, kind=kind),
        )
        call = TerminalAttachCall(attach, sandbox=self.id, since=since, window=self._window)
        return Terminal(self._calls, self.id, call, wanted)

    async def terminals(self) -> list[TerminalInfo]:
        """Return the terminals, running and exited."""
        return (await self._request(TerminalList())).terminals

    # ---- recordings

    def recording(self, id: str) -> Recording:
        """Return a handle to a recording, running or finished. Nothing is sent."""
        return Recording(self._calls, self.id, id, window=self._window)

    async def recordings(self, *, terminal: str | None = None) -> list[RecordingInfo]:
        """Return all recordings, or those of one terminal, the newest first."""
        return (await self._request(RecordingList(terminal=terminal))).recordings

    def watch_recordings(self, *, terminal: str | None = None) -> StateStream[list[RecordingInfo]]:
        """Return a context manager and iterator of the running recordings: those of now, and after every change."""
        call = StateStreamCall(RecordingWatch(terminal=terminal), sandbox=self.id, window=self._window)
        return StateStream(self._calls, call, _recordings_of)

    # ---- files, git, watches, ports

    @property
    def files(self) -> Files:
        """The files of this sandbox: `read`, `write`, `upload`, `list`, `copy`, `archive` and more."""
        return Files(self._calls, self.id, window=self._window)

    @property
    def git(self) -> Git:
        """Git in this sandbox: `await box.git.clone(url)`, `await box.git.status("project")`."""
        return Git(self._calls, self.id)

    @property
    def watch(self) -> Watches:
        """Changes in a directory: `async with box.watch(path) as watch`, `await box.watch.changes(path)`."""
        return Watches(self._calls, self.id, window=self._window)

    @property
    def ports(self) -> Ports:
        """Open ports: `list` and `watch` them, make previews with `expose`, connect with `connect`."""
        return Ports(self._calls, self.id, gateway=self._gateway, window=self._window)


def _recordings_of(state: RecordingListResult) -> list[RecordingInfo]:
    return state.recordings
