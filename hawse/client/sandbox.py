"""A sandbox: the methods that people and agents use, each a thin shell over one kind of call.

Wherever a line may be lost, what is done here is done exactly once: calls that act have a key, streams resume.
"""

import secrets
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import msgspec

from hawse.api.fields import StreamName
from hawse.api.files import FileDone, FileStat
from hawse.api.processes import ProcessInfo
from hawse.client.call import Call, new_key
from hawse.client.calls import Calls
from hawse.client.command import Command, ExecCall, program, write_stdin
from hawse.client.errors import CommandError
from hawse.client.feed import BytesLike
from hawse.client.files import FileReader, FileWriter
from hawse.client.filesystem import LIMIT, Files, PathLike
from hawse.client.git import Git
from hawse.client.ports import Ports
from hawse.client.process import Process, ProcessCall
from hawse.client.recording import Recording
from hawse.client.replies import parse
from hawse.client.results import ExecResult
from hawse.client.session import Session
from hawse.client.terminal import Terminal
from hawse.client.viewer import TerminalCall
from hawse.client.watch import Watches

Env = Mapping[str, str | None]
OUTPUT_LIMIT = 64 << 20  # bytes of each stream that `exec` keeps: more is for a process and its iterators


class Sandbox:
    """A handle to one sandbox. It holds nothing open."""

    def __init__(self, calls: Calls, id: str, *, window: int, gateway: str = "") -> None:
        """`gateway`: its address (`http://…`), where previews are."""
        self.id = id
        self._gateway = gateway
        self._calls = calls
        self._window = window

    async def call(
        self, method: str, params: dict[str, Any] | None = None, *, key: str | None = None, timeout: float | None = None
    ) -> Any:
        """Call any method of this sandbox: see `Client.call`."""
        call = Call(method, params, sandbox=self.id, key=key, timeout=timeout, window=self._window)
        return await self._calls.perform(call)

    # ---- commands

    async def exec(
        self,
        command: Command,
        *,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: BytesLike | None = None,
        timeout: float | None = None,
        check: bool = False,
        key: str | None = None,
        max_output: int = OUTPUT_LIMIT,
    ) -> ExecResult:
        """Run a command to its end. A sequence is an argv; a string is for the shell.

        `env` adds to the environment, None unsets. After `timeout` seconds the whole tree is killed, and the result
        says `timed_out`. `key`: the same key again, from anywhere, joins the same run. `max_output`: bytes of each
        stream. Being cancelled leaves the command running. Raises `CommandError` if `check` and the code is not 0;
        `spawn_failed`, `too_large`, `TruncatedError`, `unavailable`, and what ends a client.
        """
        params = program(command, cwd=cwd, env=env, timeout=timeout)
        call = ExecCall(self.id, params, key=key, stdin=stdin is not None, window=self._window, limit=max_output)
        try:
            self._calls.submit(call)
            if stdin is not None:
                await write_stdin(call, stdin)
            result: ExecResult = await self._calls.outcome(call)
        finally:
            self._calls.abandon(call)
        if check and not result.ok:
            raise CommandError(result)
        return result

    def session(
        self,
        id: str | None = None,
        *,
        cwd: str | None = None,
        env: Env | None = None,
        shell: str | None = None,
        create: bool = True,
    ) -> Session:
        """A shell that lives on, for `async with`: see `Session`. `shell`: bash unless it is the path of another.

        `create=False` uses the one of that `id`, which stays when the `async with` is left.
        """
        if id is None and not create:
            raise ValueError("which session? give its id")
        wanted = {"id": id, "cwd": cwd, "env": None if env is None else dict(env), "shell": shell}
        return Session(self._calls, self.id, wanted, create=create, window=self._window, attach=self.attach_process)

    # ---- processes

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
        """Start a process and attach to it; exactly one, whatever happens to the line. It outlives the client.

        Without `stdin` it reads from /dev/null. `timeout` (seconds) kills the whole tree. Raises `conflict` if one of
        that `id` runs, `spawn_failed`, `limit_exceeded`, and what ends a client.
        """
        params = {**program(command, cwd=cwd, env=env, timeout=timeout), "id": id, "stdin": stdin or None}
        answer = await self._calls.perform(Call("process.start", params, sandbox=self.id, key=new_key()))
        info = parse(msgspec.json.encode(answer), ProcessInfo)
        return await self._attach(info.id, instance=info.instance, since={"stdout": 0, "stderr": 0}, stdin=stdin)

    async def attach_process(
        self, id: str, *, instance: str | None = None, since: Mapping[StreamName, int] | None = None
    ) -> Process:
        """Attach to a process, running or exited. `since`: offsets to begin at; by default all that is kept.

        Raises `not_found`, `stale_handle` if `instance` is another, and what ends a client.
        """
        return await self._attach(id, instance=instance, since=since, stdin=True)

    @asynccontextmanager
    async def process(
        self,
        command: Command,
        *,
        id: str | None = None,
        cwd: str | None = None,
        env: Env | None = None,
        stdin: bool = False,
        timeout: float | None = None,
    ) -> AsyncIterator[Process]:
        """`start` for an `async with`, which kills what still runs at its end, unless `detach` was called."""
        name = id or f"p-{secrets.token_hex(6)}"
        try:
            process = await self.start(command, id=name, cwd=cwd, env=env, stdin=stdin, timeout=timeout)
        except BaseException:
            if id is None:  # it may have been started, and nobody else can know it
                self._calls.post(Call("process.kill", {"id": name}, sandbox=self.id, key=new_key()))
            raise
        try:
            yield process
        finally:
            await process.leave()

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
        """A terminal for `async with`: created unless one of that `id` runs, then attached to. Leaving detaches.

        `create=False`, or an `instance`, only attaches. `since`: the offset to go on from; by default everything
        that is kept is replayed. `read_only` viewers cannot type. `lossless`: never a snapshot instead of output,
        because the program waits for this reader: up to 30 s while it makes no progress or its line is broken.
        `emulator`: what reads this answers a program's queries, whenever `Terminal.answers` says that it is its turn.
        `name`, `kind`: as which the others see us; see `Terminal.viewers`.
        """
        if id is None and (instance is not None or not create):
            raise ValueError("which terminal? give its id")
        wanted = None
        if create and instance is None:
            environment = None if env is None else dict(env)
            wanted = {"id": id, "argv": argv, "cwd": cwd, "env": environment, "cols": cols, "rows": rows}
        call = TerminalCall(
            self.id,
            id or "",
            instance=instance,
            since=since,
            read_only=read_only,
            lossless=lossless,
            emulator=emulator,
            name=name,
            kind=kind,
            window=self._window,
        )
        return Terminal(self._calls, self.id, call, wanted)

    def recording(self, id: str) -> Recording:
        """A recording by its id, going on or finished; whether there is one is asked when it is used."""
        return Recording(self._calls, self.id, id, window=self._window)

    # ---- files

    @property
    def files(self) -> Files:
        """Everything with files: `read_text`, `upload`, `list`, `copy`, `archive` and more."""
        return Files(self._calls, self.id, window=self._window)

    async def read_file(self, path: PathLike, *, max_size: int = LIMIT) -> bytes:
        """A file's content: see `Files.read`."""
        return await self.files.read(path, max_size=max_size)

    def open_read(
        self, path: PathLike, *, offset: int = 0, length: int | None = None, version: str | None = None
    ) -> FileReader:
        """Stream a file's bytes: see `Files.open_read`."""
        return self.files.open_read(path, offset=offset, length=length, version=version)

    async def write_file(
        self,
        path: PathLike,
        data: BytesLike | AsyncIterable[BytesLike],
        *,
        mode: int | None = None,
        parents: bool = True,
    ) -> FileDone:
        """Replace a file: see `Files.write`."""
        return await self.files.write(path, data, mode=mode, parents=parents)

    def open_write(self, path: PathLike, *, mode: int | None = None, parents: bool = True) -> FileWriter:
        """Stream into a file: see `Files.open_write`."""
        return self.files.open_write(path, mode=mode, parents=parents)

    async def stat(self, path: PathLike) -> FileStat:
        """What is there: see `Files.stat`."""
        return await self.files.stat(path)

    @property
    def git(self) -> Git:
        """Git in this sandbox: `await sandbox.git.clone(url)`, `await sandbox.git.status("project")`."""
        return Git(self._calls, self.id)

    @property
    def watch(self) -> Watches:
        """What changes in a directory: `async with sandbox.watch(path) as watch`, `sandbox.watch.changes(path)`."""
        return Watches(self._calls, self.id, window=self._window)

    @property
    def ports(self) -> Ports:
        """What listens in the sandbox: `list`, `watch`, previews by `expose`, connections by `connect`."""
        return Ports(self._calls, self.id, gateway=self._gateway, window=self._window)

    # ---- inside

    async def _attach(
        self, id: str, *, instance: str | None, since: Mapping[StreamName, int] | None, stdin: bool
    ) -> Process:
        call = ProcessCall(self.id, id, instance=instance, since=since, window=self._window)
        await self._calls.begin(call)
        return Process(self._calls, call, self.id, stdin=stdin)
