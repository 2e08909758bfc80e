"""A server on loopback for tests of the client: the server of `hawse.rpc`, with programs and terminals in memory.

The product itself handles the handshake, credit, keys, deadlines and errors, and serves processes and files. Terminals
echo. The programs are `cat`, `print`, `fail`, `flood` and `hang`; the files are in a temporary directory.
"""

import asyncio
import secrets
import tempfile
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

from hawse.api.processes import ProcessInfo, ProcessOpened, Program, StreamOffsets
from hawse.api.spec import Nothing, Spec
from hawse.api.terminals import (
    TerminalAttach,
    TerminalCreate,
    TerminalKill,
    TerminalResize,
    TerminalSignal,
    TerminalWait,
)
from hawse.api.types import Exit
from hawse.link.stream_link import StreamLink
from hawse.rpc import Dispatcher, IdempotencyTable, handles, serves
from hawse.rpc.call import ServerCall
from hawse.rpc.dispatcher import ServedCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.rpc.server import Server
from hawse.rpc.server_limits import ServerLimits
from hawse.wire import Connection, HawseError, Kind, Limits, Role, StreamDecoder, encode_stream
from hawse.wire.messages import from_raw
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.files.methods import FileMethods
from hawse_runtime.files.write import UploadLimits
from hawse_runtime.journal.input_offsets import InputOffsets, InputStreams
from hawse_runtime.journal.journal import Journal
from hawse_runtime.posix.environment import Environment
from hawse_runtime.process.exec import ExecMethods
from hawse_runtime.process.launcher import Launcher, program_argv
from hawse_runtime.process.methods import ProcessMethods
from hawse_runtime.process.output_stream import KeptStream
from hawse_runtime.process.process import ProcessLimits
from hawse_runtime.rpc.stream_slots import StreamSlots
from tests.support.examples import OPENED, TERMINAL
from tests.support.waiting import Changes

KEPT = 1 << 24  # bytes of each output
KILLED = Exit(signal="SIGKILL")
NUMBERS = b"".join(b"%d\n" % n for n in range(200_000))  # the content of the file `numbers`


def output() -> KeptStream:
    return KeptStream(Journal(KEPT), lambda: None, lambda: None)


class FakeProgram:
    """The program of a process or a terminal."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.instance = secrets.token_hex(4)
        self.inputs = InputOffsets()
        self.exit: Exit | None = None
        self.signals: list[str | int] = []
        self.readers: dict[Any, None] = {}  # the streams of the open calls

    def wake(self) -> None:
        for reader in list(self.readers):
            reader.wake()


class FakeProcess(FakeProgram):
    """A process that the methods of the runtime serve like a real one."""

    session = None
    duration = None

    def __init__(self, id: str, argv: list[str], stdin: bool, on_exit: Callable[[Any], None]) -> None:
        super().__init__(id)
        self.argv = argv
        self.writers = InputStreams()
        self.stdout, self.stderr = output(), output()
        self.stdin = FakeStdin(self) if stdin else None
        self._on_exit = on_exit

    def run(self) -> None:
        match self.argv:
            case ["print", out, *err]:
                self.print(out.encode(), "".join(err).encode())
                self.finish(Exit(0))
            case ["fail", code]:
                self.print(b"", b"no luck\n")
                self.finish(Exit(int(code)))
            case ["flood", size]:
                self.print(bytes(range(256)) * (int(size) // 256), b"e" * 1000)
                self.finish(Exit(0))
            case [_, "-c", command]:
                self.print(command.encode())
                self.finish(Exit(0))

    def print(self, out: bytes, err: bytes = b"") -> None:
        for stream, data in ((self.stdout, out), (self.stderr, err)):
            stream.journal.append(data)
            stream.appended()
        self.wake()

    def finish(self, exit: Exit) -> None:
        self.exit = exit
        self.stdout.finish()
        self.stderr.finish()
        self.wake()
        self._on_exit(self)

    # ---- for the methods

    def describe(self) -> ProcessInfo:
        return ProcessInfo(id=self.id, instance=self.instance, pid=7)

    def opened(self, start: StreamOffsets, input_offset: int) -> ProcessOpened:
        return ProcessOpened(id=self.id, instance=self.instance, pid=7, start=start, input_offset=input_offset)

    def signal(self, signum: int) -> None:
        self.signals.append(signum)

    async def end(self, signum: int, grace: float) -> None:
        if self.exit is None:
            self.finish(KILLED)


class FakeStdin:
    pending = 0

    def __init__(self, process: FakeProcess) -> None:
        self.ended = False
        self._process = process

    def write(self, data: bytes, on_written: Callable[[int], None]) -> None:
        if self._process.argv == ["cat"]:
            self._process.print(bytes(data))
        on_written(len(data))

    def end(self) -> None:
        if not self.ended and self._process.argv == ["cat"]:
            self._process.finish(Exit(0))
        self.ended = True


class FakeLauncher:
    """Starts fake processes. A `Launcher`."""

    def __init__(self, tasks: Tasks, changed: Callable[[], None]) -> None:
        self.started: list[FakeProcess] = []
        self.context = SimpleNamespace(limits=ProcessLimits(), tasks=tasks)
        self._changed = changed

    def spawn(
        self, id: str, params: Program, on_exit: Callable[[Any], None], store: object = None, session: object = None
    ) -> FakeProcess:
        argv = program_argv(params.argv, params.command)
        if params.command is None and argv[0] not in ("cat", "print", "fail", "flood", "hang"):
            raise HawseError("spawn_failed", argv[0])

        def ended(process: FakeProcess) -> None:
            on_exit(process)
            self._changed()

        process = FakeProcess(id, argv, bool(params.stdin), ended)
        self.started.append(process)
        asyncio.get_running_loop().call_soon(process.run)
        return process


class FakeTerminal(FakeProgram):
    """A terminal that echoes. `journal.start` can be advanced: older output is lost."""

    def __init__(self, params: TerminalCreate) -> None:
        super().__init__(params.id or secrets.token_hex(4))
        self.size = (params.cols or 80, params.rows or 24)
        self.journal = Journal(KEPT)
        self.typed = bytearray()
        self.echoes = True
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def write(self, data: bytes) -> None:
        self.journal.append(data)
        self.wake()

    def type(self, data: bytes) -> None:
        self.typed += data
        if self.echoes:
            self.write(data)

    def finish(self, exit: Exit) -> None:
        self.exit = exit
        self.wake()
        self.ended.set_result(None)


class TerminalStream(OutputOnlyStream):
    """Serves `terminal.attach`: `opened`, a snapshot if output is missing, output, `live`, `exit` and the result."""

    def __init__(self, call: ServerCall, terminal: FakeTerminal, params: TerminalAttach) -> None:
        super().__init__(call)
        self.offset = params.since or 0
        self._terminal, self._input = terminal, params.input
        self._start_at = "start" if params.since is None else "resume"
        self._screen = b""
        if self.offset < terminal.journal.start:
            self._start_at, self.offset = "snapshot", terminal.journal.end
            self._screen = (b"SCREEN@%d " % self.offset) * 500
        self._size, self._painted = len(self._screen), 0
        self._opened = self._live = False
        terminal.readers[self] = None

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        terminal, window = self._terminal, connection.window(ch)
        if window <= 0:
            return False
        if not self._opened:
            self._opened = True
            connection.send_event(ch, "opened", self._description())
        elif part := self._screen[self._painted : self._painted + min(1000, window)]:
            connection.send_data(ch, Kind.SCREEN, self._painted, part)
            self._painted += len(part)
        elif data := terminal.journal.read(self.offset, min(size, window)):
            connection.send_data(ch, Kind.OUTPUT, self.offset, data)
            self.offset += len(data)
        elif not self._live:
            self._live = True
            connection.send_event(ch, "live", {"offset": self.offset})
        elif terminal.exit is not None:
            connection.send_event(ch, "exit", terminal.exit)
            self._call.result({"exit": terminal.exit, "offset": self.offset})
            return False
        else:
            return False
        return True

    def _description(self) -> dict[str, Any]:
        terminal = self._terminal
        described = {
            "id": terminal.id,
            "instance": terminal.instance,
            "cols": terminal.size[0],
            "rows": terminal.size[1],
        }
        start = {"start_at": self._start_at, "from": self.offset, "screen": self._size}
        return OPENED | described | start | {"input_offset": terminal.inputs.applied(self._input or "")}

    def receive_input(self, offset: int, payload: memoryview) -> None:
        assert self._input is not None
        inputs = self._terminal.inputs
        new = bytes(inputs.new_part(self._input, offset, payload))
        inputs.advance(self._input, len(new))
        self._terminal.type(new)
        self._call.applied(len(payload))

    def detach(self) -> None:
        self._terminal.readers.pop(self, None)


class FakeTerminals:
    """The terminals and their methods."""

    def __init__(self) -> None:
        self.registry: Registry[FakeTerminal] = Registry("terminal")

    @handles(TerminalCreate)
    def _create(self, params: TerminalCreate) -> dict[str, Any]:
        terminal = self.registry.find(params.id or "")
        if terminal is None:
            terminal = FakeTerminal(params)
            self.registry.add(terminal)
        return TERMINAL | {"id": terminal.id, "instance": terminal.instance, "created": True}

    @serves(TerminalAttach)
    def _attach(self, call: ServerCall, params: TerminalAttach) -> None:
        call.serve(TerminalStream(call, self.registry.get(params.id, params.instance), params))

    @serves(TerminalWait)
    def _wait(self, call: ServerCall, params: TerminalWait) -> None:
        terminal = self.registry.get(params.id, params.instance)
        end = {"from": 0, "event": "exit", "offset": 0}
        terminal.ended.add_done_callback(lambda _: call.result(end | {"exit": terminal.exit}))

    @handles(TerminalResize)
    def _resize(self, params: TerminalResize) -> dict[str, int]:
        self.registry.get(params.id).size = (params.cols, params.rows)
        return {"cols": params.cols, "rows": params.rows}

    @handles(TerminalSignal)
    def _signal(self, params: TerminalSignal) -> Nothing:
        self.registry.get(params.id).signals.append(params.signal)
        return Nothing()

    @handles(TerminalKill)
    def _kill(self, params: TerminalKill) -> dict[str, Exit]:
        terminal = self.registry.get(params.id)
        if terminal.exit is None:
            terminal.finish(KILLED)
        return {"exit": terminal.exit or KILLED}


class Session(asyncio.Transport):
    """One connection: a WebSocket as the transport of a server's link."""

    def __init__(self, websocket: ServerConnection, link: StreamLink, changed: Callable[[], None]) -> None:
        super().__init__()
        self.websocket, self.link = websocket, link
        self._changed = changed
        self._decoder = StreamDecoder(link.connection.limits)
        self._outbox: asyncio.Queue[str | bytes | None] = asyncio.Queue()  # bounded by the client's calls and credit

    async def run(self) -> None:
        self.link.connection_made(self)
        try:
            async with asyncio.TaskGroup() as group:
                writing = group.create_task(self._write())
                async for message in self.websocket:
                    self.link.data_received(b"".join(encode_stream([message])))
                    self._changed()
                writing.cancel()
        except* ConnectionClosed:
            pass
        finally:
            self.link.connection_lost(None)

    async def _write(self) -> None:
        while (message := await self._outbox.get()) is not None:
            await self.websocket.send(message)
            self._changed()
        await self.websocket.close(1012)

    def go_away(self, retry_after: float) -> None:
        """Send `goaway` and close, like a restarting server."""
        self.link.connection.goaway("restart", retry_after)
        self.link.close()

    # ---- for the link

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None: ...

    def writelines(self, parts: Any) -> None:
        for is_control, message in self._decoder.feed(b"".join(parts)):
            self._outbox.put_nowait(str(message, "utf-8") if is_control else bytes(message))

    def close(self) -> None:
        self._outbox.put_nowait(None)

    def abort(self) -> None:
        self.websocket.transport.abort()

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class FakeServer(Changes):
    """`async with FakeServer() as server:` listens on loopback.

    The methods `echo`, `never` (which gets no answer) and `count` are added to the product's.
    """

    def __init__(self) -> None:
        super().__init__()
        self.limits = Limits()
        self.token: str | None = None
        self.authorization: list[str | None] = []
        self.served = 0
        self.sessions: list[Session] = []  # open ones
        self.calls: list[ServedCall] = []
        self.fail: dict[str, list[HawseError]] = {}  # errors for the next calls of a method
        self.counted = 0
        self.port = 0
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        disk = ThreadPool("disk", 2)
        self._stack.callback(disk.close)
        self.root = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        tasks = Tasks(await self._stack.enter_async_context(asyncio.TaskGroup()))
        (self.root / "numbers").write_bytes(NUMBERS)
        keys = IdempotencyTable()
        files = FileMethods(
            *(Environment(self.root), disk, tasks, keys),
            limits=UploadLimits(),
            slots=StreamSlots(),
            session_directory=lambda session: str(self.root),
        )
        self._stack.callback(files.close)
        self.launcher = FakeLauncher(tasks, self.notify)
        launcher, unused = cast(Launcher, self.launcher), cast(Any, None)
        execs = ExecMethods(launcher, keys)
        processes = ProcessMethods(launcher, execs, unused, unused, Retention())
        self.processes = cast(Registry[FakeProcess], processes.records)
        terminals = FakeTerminals()
        self.terminals = terminals.registry
        self.dispatcher = Dispatcher(tasks.start, keys)
        self.dispatcher.on_call = self._called
        for methods in (files, execs, processes, terminals):
            self.dispatcher.add(methods)
        self.dispatcher.register(Spec("echo", Any, Any), lambda params: params)
        self.dispatcher.register(Spec("count", Any, Any), lambda params: self._count())
        self.leave_unanswered(Spec("never", Any, Any, input=True))
        self._server = Server(self.dispatcher, name="fake/1", limits=ServerLimits(wire=self.limits))
        options: dict[str, Any] = {"compression": None, "ping_interval": None, "close_timeout": 0.2, "max_size": None}
        listening = serve(self._serve, "127.0.0.1", 0, subprotocols=[Subprotocol("hawse.v1")], **options)
        self.port = next(iter((await self._stack.enter_async_context(listening)).sockets)).getsockname()[1]
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._stack.aclose()

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def session(self) -> Session:
        return self.sessions[-1]

    def leave_unanswered(self, spec: Spec) -> None:
        """Accept the calls of a stream, and send nothing."""
        self.dispatcher.register(spec, lambda call, params: None)

    def params(self, method: str) -> list[Any]:
        """The parameters of each call of a method."""
        return [from_raw(call.params) for call in self.calls if call.method == method]

    def keys(self, method: str) -> set[str | None]:
        """The keys of the calls of a method; a repeated call has the same key."""
        return {call.key for call in self.calls if call.method == method}

    def _called(self, call: ServedCall, spec: Spec) -> None:
        self.calls.append(call)
        if self.fail.get(call.method):
            raise self.fail[call.method].pop(0)

    def _count(self) -> int:
        self.counted += 1
        return self.counted

    async def _serve(self, websocket: ServerConnection) -> None:
        assert websocket.request
        self.authorization.append(websocket.request.headers.get("Authorization"))
        if self.token is not None and self.authorization[-1] != f"Bearer {self.token}":
            refusing = Connection(Role.SERVER)
            refusing.send_connection_error(HawseError("unauthenticated", "no"))
            for message in refusing.data_to_send():
                await websocket.send(message)
            await websocket.close(4401)
            return
        self.served += 1
        session = Session(websocket, self._server.accept(), self.notify)
        self.sessions.append(session)
        try:
            await session.run()
        finally:
            self.sessions.remove(session)
            self.notify()
