"""Support for the runtime's tests: a runtime on a Unix socket, and a client that records everything it receives.

    async with Served(tmp_path) as served, served.client() as client:
        shell = await client.terminal(argv=["sh"])
        await shell.until(lambda: b"$" in shell.output)

`until` waits for messages, `tests.support.waiting` for processes and files; `eventually` polls for everything else.
"""

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple, Self

import msgspec
import psutil

from hawse.api.processes import ProcessStart
from hawse.link.stream_link import StreamLink
from hawse.wire import Connection, Data, Error, Event, HawseError, Kind, Message, Principal, Result, Role, Welcome
from hawse_runtime.app import Runtime, running
from hawse_runtime.settings import RuntimeLimits, RuntimeSettings
from tests.support.typed import mistake
from tests.support.waiting import TIMEOUT, Changes

WINDOW = 1 << 20  # bytes granted on each new channel, and again as they are received
OURS = ("/", "pipe:", "anon_inode:[pidfd]", "anon_inode:inotify")  # kinds of descriptor targets
CUT = HawseError("interrupted", "the connection was lost")


class ReceivedEvent(NamedTuple):
    """An event and its position: `at` is the end of the output before it."""

    name: str
    value: Any
    at: int


class Channel:
    """One open call: records everything received, and sends input."""

    def __init__(self, client: "Client", ch: int, method: str, *, generous: bool, input_id: str | None) -> None:
        self.ch = ch
        self.method = method
        self.input_id = input_id
        self.events: list[ReceivedEvent] = []
        self.output = bytearray()
        self.stderr = bytearray()
        self.screen = bytearray()  # the latest snapshot
        self.lost: list[tuple[int, int]] = []  # ranges of the output that reseeds skipped: [from, to)
        self.frames: list[tuple[Kind, int, int]] = []  # kind, offset, size
        self.started: dict[Kind, int] = {}  # the offset of the first frame of each kind
        self.granted = 0  # bytes of input that the runtime has granted
        self.sent = 0  # the offset of the next input byte
        self.value: Any = None
        self.error: HawseError | None = None
        self.closed = False
        self.generous = generous  # whether received bytes are granted again
        self._client = client
        self._changes = Changes()
        self._ends: dict[Kind, int] = {}

    # ---- sending

    def send(self, data: bytes, offset: int | None = None) -> None:
        """Send as much input as the window allows; `type` waits for more."""
        at = self.sent if offset is None else offset
        self._client.connection.send_data(self.ch, Kind.INPUT, at, data)
        self.sent = max(self.sent, at + len(data))
        self._client.link.flush()

    async def type(self, data: bytes) -> None:
        """Send all of `data` as fast as the runtime accepts it."""
        view = memoryview(data)
        while view:
            await self.until(lambda: self.closed or self._client.connection.window(self.ch) > 0)
            if self.closed:
                raise self.error or AssertionError("closed before the input was sent")
            part = view[: min(len(view), self._client.connection.window(self.ch), 1 << 16)]
            self.send(bytes(part))
            view = view[len(part) :]

    def grant(self, size: int) -> None:
        self._client.connection.grant(self.ch, size)
        self._client.link.flush()

    def end(self) -> None:
        self._client.connection.end(self.ch)
        self._client.link.flush()

    def cancel(self) -> None:
        self._client.connection.cancel(self.ch)
        self._client.link.flush()

    # ---- waiting

    async def until(self, done: Callable[[], Any]) -> None:
        """Wait until `done()` holds, which depends on received messages."""
        await self._changes.until(done)

    async def event(self, name: str, count: int = 1) -> Any:
        """Wait for the `count`th event with this name; return its value."""

        def values() -> list[Any]:
            return [event.value for event in self.events if event.name == name]

        await self.until(lambda: len(values()) >= count or self.closed)
        if len(values()) < count:
            raise self.error or AssertionError(f"no {name} (event {count}); there were {self.events}")
        return values()[count - 1]

    async def seen(self, text: bytes) -> None:
        with suppress(TimeoutError):  # the received events give more details
            await self.until(lambda: text in self.output or self.closed)
        received = f"{len(self.output)} bytes, {[event.name for event in self.events]}"
        assert text in self.output, (self.closed, self.error, received, bytes(self.output[-2000:]))

    async def result(self) -> Any:
        """Wait for the call's result; raise its error."""
        await self.until(lambda: self.closed)
        if self.error is not None:
            raise self.error
        return self.value

    async def refusal(self) -> HawseError:
        """Wait for the call's error."""
        await self.until(lambda: self.closed)
        assert self.error is not None, f"it gave {self.value!r}"
        return self.error

    # ---- receiving

    def received(self, event: Message | Data) -> None:
        match event:
            case Data(kind=kind, offset=offset, payload=payload):
                self._data(kind, offset, bytes(payload))
            case Event(name=name, value=raw):
                self._event(name, self._typed(name, raw), len(raw))
            case Result(value=raw):
                self._close(value=self._typed(None, raw))
            case Error():
                self._close(error=event.to_exception())
            case _:
                self.granted += getattr(event, "bytes", 0)
        self._changes.notify()

    def cut_off(self) -> None:
        self._close(error=self.error or CUT)
        self._changes.notify()

    def _typed(self, event: str | None, raw: msgspec.Raw) -> Any:
        value = msgspec.json.decode(raw)
        if found := mistake(self.method, event, value):
            self._client.mistakes.append(found)
        return value

    def _data(self, kind: Kind, offset: int, payload: bytes) -> None:
        assert not self.closed
        expected = self._ends.get(kind)
        assert expected is None or offset == expected, f"{kind.name} at {offset}; {expected} was due"
        self.started.setdefault(kind, offset)
        self.frames.append((kind, offset, len(payload)))
        self._ends[kind] = offset + len(payload)
        {Kind.OUTPUT: self.output, Kind.STDERR: self.stderr, Kind.SCREEN: self.screen}[kind].extend(payload)
        if self.generous:
            self._client.connection.grant(self.ch, len(payload))

    def _event(self, name: str, value: Any, size: int) -> None:
        self.events.append(ReceivedEvent(name, value, self.position))
        if name == "opened" and isinstance(value.get("from"), int):
            self._ends = {Kind.OUTPUT: value["from"], Kind.SCREEN: 0}
        if name == "opened" and isinstance(value.get("from"), dict):
            self._ends = {Kind.OUTPUT: value["from"]["stdout"], Kind.STDERR: value["from"]["stderr"]}
        if name == "reseed":
            self.screen.clear()
            self.lost.append((self.position, value["from"]))
            self._ends = {Kind.OUTPUT: value["from"], Kind.SCREEN: 0}
        if name == "truncated":
            self._ends[Kind.OUTPUT if value["stream"] == "stdout" else Kind.STDERR] = value["from"]
        if self.generous:
            self._client.connection.grant(self.ch, size + 64)

    @property
    def position(self) -> int:
        """The offset after the last byte of output."""
        return self._ends.get(Kind.OUTPUT, 0)

    def _close(self, value: Any = None, error: HawseError | None = None) -> None:
        self.closed, self.value, self.error = True, value, error


class TappedLink(asyncio.Protocol):
    """A link whose received bytes a test sees."""

    def __init__(self, link: StreamLink, tap: Callable[[bytes], None]) -> None:
        self._tap = tap
        self._link = link
        self.connection_made = link.connection_made  # type: ignore[method-assign]
        self.connection_lost = link.connection_lost  # type: ignore[method-assign]
        self.pause_writing = link.pause_writing  # type: ignore[method-assign]
        self.resume_writing = link.resume_writing  # type: ignore[method-assign]
        self.eof_received = link.eof_received  # type: ignore[method-assign]

    def data_received(self, data: bytes) -> None:
        self._tap(data)
        self._link.data_received(data)


class Client:
    """A gateway's end of a link. A `Receiver`."""

    def __init__(
        self, *, window: int = WINDOW, shares: bool = True, tap: Callable[[bytes], None] | None = None
    ) -> None:
        """`tap` is called with all received bytes before they are handled."""
        self.connection = Connection(Role.CLIENT, window=window)
        self._shares = shares
        self._tap = tap
        self.link = StreamLink(self.connection, self)
        self.channels: dict[int, Channel] = {}
        self.final_error: HawseError | None = None  # an `error` without a channel
        self.welcome: Welcome | None = None
        self.lost = False
        self.mistakes: list[str] = []  # values that do not match the types in hawse.api
        self._changes = Changes()

    async def connect(self, path: Path, *, token: str | None = None) -> Self:
        self.connection.send_hello("test", token, shares=self._shares)
        async with asyncio.timeout(TIMEOUT):
            while not await self._dial(path):  # noqa: ASYNC110
                await asyncio.sleep(0.002)  # no event reports that another process is listening
        await self.until(lambda: self.welcome is not None or self.lost)
        return self

    async def _dial(self, path: Path) -> bool:
        """Connect, and return whether a server is listening. A new runtime may not be listening yet."""
        try:
            await asyncio.get_running_loop().create_unix_connection(self._protocol, str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        return True

    def _protocol(self) -> asyncio.Protocol:
        return self.link if self._tap is None else TappedLink(self.link, self._tap)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.cut()

    async def cut(self) -> None:
        """Lose the connection."""
        self.link.abort()
        await self.until(lambda: self.lost)
        assert not self.mistakes, self.mistakes

    async def until(self, done: Callable[[], Any]) -> None:
        """Wait until `done()` holds, which depends on received messages."""
        await self._changes.until(done)

    # ---- calls

    def call(
        self,
        method: str,
        params: Any = None,
        *,
        key: str | None = None,
        timeout: float | None = None,
        principal: Principal | None = None,
        window: int | None = None,
        generous: bool = True,
        age: float | None = None,
    ) -> Channel:
        """Open a channel. Without `generous`, no credit is granted beyond the initial window."""
        params = {} if params is None else params
        ch = self.connection.call(method, params, key=key, timeout=timeout, age=age, principal=principal, window=window)
        input_id = params.get("input") if isinstance(params, dict) else None
        channel = self.channels[ch] = Channel(self, ch, method, generous=generous, input_id=input_id)
        self.link.flush()
        return channel

    async def ask(self, method: str, params: Any = None, *, key: str | None = None, **more: Any) -> Any:
        return await self.call(method, (params or {}) | more, key=key).result()

    async def refused(self, method: str, params: Any = None, *, key: str | None = None, **more: Any) -> HawseError:
        return await self.call(method, (params or {}) | more, key=key).refusal()

    def attach(self, terminal_id: str, *, generous: bool = True, window: int | None = None, **params: Any) -> Channel:
        return self.call("terminal.attach", {"id": terminal_id, **params}, generous=generous, window=window)

    async def terminal(self, command: str, terminal_id: str = "t", **params: Any) -> Channel:
        """Create a terminal that runs `command` in sh, and attach to it with the input id `keys`."""
        await self.ask("terminal.create", id=terminal_id, argv=["sh", "-c", command], **params)
        channel = self.attach(terminal_id, input="keys")
        await channel.event("opened")
        return channel

    def execute(self, command: str, *, key: str | None = None, generous: bool = True, **params: Any) -> Channel:
        return self.call("exec", {"command": command, **params}, key=key, generous=generous)

    async def info(self) -> Any:
        return await self.ask("runtime.info")

    # ---- Receiver

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        ch = getattr(event, "ch", None)
        if ch is not None:
            self.channels[ch].received(event)
        elif isinstance(event, Error):
            self.final_error = event.to_exception()
        elif isinstance(event, Welcome):
            self.welcome = event
        self._changes.notify()

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        self.lost = True
        for channel in self.channels.values():
            if not channel.closed:
                channel.cut_off()
        self._changes.notify()


class _ObservedLink(asyncio.Protocol):
    """Forwards everything to a link of the runtime. Calls `changed` when the link has received bytes or was lost."""

    def __init__(self, link: StreamLink, changed: Callable[[], None]) -> None:
        self._link = link
        self._changed = changed
        self.connection_made = link.connection_made  # type: ignore[method-assign]
        self.eof_received = link.eof_received  # type: ignore[method-assign]
        self.pause_writing = link.pause_writing  # type: ignore[method-assign]
        self.resume_writing = link.resume_writing  # type: ignore[method-assign]

    def data_received(self, data: bytes) -> None:
        self._link.data_received(data)
        self._changed()

    def connection_lost(self, exc: Exception | None) -> None:
        self._link.connection_lost(exc)
        self._changed()


class Served:
    """A runtime on a Unix socket, in a separate task. When it ends, none of its processes may be left."""

    def __init__(
        self,
        folder: Path,
        *,
        token: str | None = None,
        root: Path | None = None,
        quota: int | None = None,
        limits: RuntimeLimits = RuntimeLimits(),
        command: ProcessStart | None = None,
    ) -> None:
        self.workspace = folder / "workspace"
        self.socket = Path(tempfile.mkdtemp(prefix="hawse-")) / "s"
        self.runtime: Runtime
        self._settings = RuntimeSettings(
            workspace=self.workspace, token=token, root=root, quota=quota, limits=limits, command=command
        )
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._task: asyncio.Task[None]
        self._changes = Changes()

    async def __aenter__(self) -> Self:
        self._children = children()
        self._task = asyncio.create_task(self._run())
        ready = asyncio.create_task(self._ready.wait())
        await asyncio.wait((self._task, ready), return_when=asyncio.FIRST_COMPLETED)
        ready.cancel()
        if self._task.done():
            self._task.result()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._stop.set()
        async with asyncio.timeout(TIMEOUT):
            await self._task
        self.socket.unlink(missing_ok=True)  # Python 3.13 removes it
        self.socket.parent.rmdir()
        left = self.started_children()
        assert not left, f"left behind: {left}"

    def started_children(self) -> set[int]:
        """Return the pids of all descendants of this process that started after this runtime, including zombies.

        Excludes the screen process, which runs until the runtime ends.
        """
        return children() - self._children - {self.runtime.screens.pid or 0}

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition`, which depends on messages to the runtime or on lost links, returns a true value."""
        await self._changes.until(condition)

    def client(self, *, window: int = WINDOW, token: str | None = None) -> "_Connecting":
        return _Connecting(self, window, token)

    def _accept(self) -> asyncio.Protocol:
        return _ObservedLink(self.runtime.server.accept(), self._changes.notify)

    async def _run(self) -> None:
        async with running(self._settings) as self.runtime:
            loop = asyncio.get_running_loop()
            server = await loop.create_unix_server(self._accept, str(self.socket))
            self._ready.set()
            await self._stop.wait()
            server.close()


class _Connecting:
    """`async with served.client() as client`, or `client = await served.client()`."""

    def __init__(self, served: Served, window: int, token: str | None) -> None:
        self._served = served
        self._token = token
        self._client = Client(window=window)

    def __await__(self) -> Any:
        return self._client.connect(self._served.socket, token=self._token).__await__()

    async def __aenter__(self) -> Client:
        return await self

    async def __aexit__(self, *_: object) -> None:
        await self._client.cut()


def children() -> set[int]:
    """Return the pids of all descendants of this process, including zombies."""
    return {process.pid for process in psutil.Process().children(recursive=True)}


def named(name: str, processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the running processes with this name. Others may end in the meantime."""
    found = []
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            if process.name() == name and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


async def eventually(done: Callable[[], Any]) -> None:
    """Poll until `done()` holds, for state without events, such as the tasks and descriptors of a process, or /proc."""
    async with asyncio.timeout(TIMEOUT):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.002)


def open_fds() -> set[str]:
    return set(os.listdir("/proc/self/fd"))


@contextmanager
def no_fd_leaked() -> Iterator[None]:
    """Check that no pipe, terminal, process or file is left open. Ignores sockets, since the event loop has its own."""
    before = {fd: _target(fd) for fd in open_fds()}
    yield
    after = {fd: _target(fd) for fd in open_fds()}
    new = {fd: target for fd, target in after.items() if before.get(fd) != target and target.startswith(OURS)}
    assert not new, f"left open: {new}"


def _target(fd: str) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return ""
