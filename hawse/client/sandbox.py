"""A sandbox: the methods that people and agents use, each a thin shell over one kind of call.

Wherever a line may be lost, what is done here is done exactly once: calls that act have a key, streams resume.
"""

from collections.abc import AsyncIterable
from typing import Literal

from hawse.api.files import FileStatResult, FileTransferResult
from hawse.api.paths import to_text
from hawse.api.terminals import TerminalCreate
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.input_stream import BytesLike
from hawse.client.files.files import LIMIT, Files, PathLike
from hawse.client.files.transfer_streams import FileReader, FileWriter
from hawse.client.git import Git
from hawse.client.ports import Ports
from hawse.client.process.execution import Env, Execution
from hawse.client.process.session import Session
from hawse.client.terminal.attach import TerminalAttachCall
from hawse.client.terminal.recording import Recording
from hawse.client.terminal.terminal import Terminal
from hawse.client.watch import Watches


class Sandbox(Execution):
    """A handle to one sandbox. It holds nothing open."""

    def __init__(self, calls: CallTable, id: str, *, window: int, gateway: str = "") -> None:
        """`gateway`: its address (`http://…`), where previews are."""
        super().__init__(calls, id, window=window)
        self._gateway = gateway

    # ---- sessions

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
        wanted = {
            "id": id,
            "cwd": None if cwd is None else to_text(cwd),
            "env": None if env is None else dict(env),
            "shell": shell,
        }
        return Session(self._calls, self.id, wanted, create=create, window=self._window, attach=self.attach_process)

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
            directory = None if cwd is None else to_text(cwd)
            wanted = TerminalCreate(id=id, argv=argv, cwd=directory, env=environment, cols=cols, rows=rows)
        call = TerminalAttachCall(
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
    ) -> FileTransferResult:
        """Replace a file: see `Files.write`."""
        return await self.files.write(path, data, mode=mode, parents=parents)

    def open_write(self, path: PathLike, *, mode: int | None = None, parents: bool = True) -> FileWriter:
        """Stream into a file: see `Files.open_write`."""
        return self.files.open_write(path, mode=mode, parents=parents)

    async def stat(self, path: PathLike) -> FileStatResult:
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
