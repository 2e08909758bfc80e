"""A small fake server: real sockets, the real protocol, sandboxes in memory.

`World` holds the state that survives a reconnect (journals, applied offsets, outcomes of keys). A `Session` is one
connection. Terminals echo. The programs are `cat`, `print`, `fail`, `flood` and `hang`; the files are a dict.
"""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from hawse.wire import (
    Call,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    FairWriter,
    HawseError,
    Hello,
    Kind,
    Limits,
    RemoteProtocolError,
    Role,
)
from hawse.wire.messages import from_raw
from tests.support.examples import OPENED, TERMINAL
from tests.support.waiting import Changes

Params = dict[str, Any]


@dataclass(eq=False)
class Journal:
    """The last bytes of one stream; `start` is the offset of the first kept byte."""

    start: int = 0
    data: bytearray = field(default_factory=bytearray)
    closed: bool = False
    wakes: set[Callable[[], None]] = field(default_factory=set)

    @property
    def end(self) -> int:
        return self.start + len(self.data)

    def write(self, data: bytes) -> None:
        self.data += data
        self.wake()

    def cut(self, start: int) -> None:
        del self.data[: start - self.start]
        self.start = start

    def close(self) -> None:
        self.closed = True
        self.wake()

    def wake(self) -> None:
        for wake in [*self.wakes]:
            wake()

    def read(self, offset: int, size: int) -> bytes:
        return bytes(self.data[offset - self.start : offset - self.start + size])


class Thing:
    """A terminal or a process: its journals, its input and its exit."""

    def __init__(self, id: str, *names: str) -> None:
        self.id = id
        self.instance = secrets.token_hex(4)
        self.journals = {name: Journal() for name in names}
        self.applied: dict[str, int] = {}  # by input id
        self.typed = bytearray()
        self.eof = False
        self.exit: dict[str, Any] = {}
        self.size = (80, 24)
        self.on_input: Callable[[bytes], None] = lambda data: None
        self.on_eof: Callable[[], None] = lambda: None

    def apply(self, input: str, offset: int, payload: bytes) -> None:
        done = self.applied.setdefault(input, 0)
        if offset > done:
            raise HawseError("input_gap", details={"applied": done})
        new = payload[done - offset :]
        self.applied[input] = done + len(new)
        self.typed += new
        self.on_input(new)

    def end_input(self) -> None:
        if not self.eof:
            self.eof = True
            self.on_eof()

    def finish(self, **exit: Any) -> None:
        self.exit = exit
        for journal in self.journals.values():
            journal.close()

    @property
    def over(self) -> bool:
        return all(journal.closed for journal in self.journals.values())


class World:
    """All state that survives a connection."""

    def __init__(self) -> None:
        self.terminals: dict[str, Thing] = {}
        self.processes: dict[str, Thing] = {}
        self.keyed: dict[str, Thing] = {}  # exec and uploads, by key
        self.outcomes: dict[str, Any] = {}  # the results of keyed plain calls
        self.files: dict[str, bytes] = {"/numbers": b"".join(b"%d\n" % n for n in range(200_000))}
        self.version = "v1"
        self.cancelled: list[str] = []  # keys of cancelled uploads
        self.runs: list[str] = []  # commands that were actually run
        self.fail: dict[str, list[HawseError]] = {}  # errors for the next calls of a method
        self.silent: set[str] = set()  # methods that get no answer
        self.token: str | None = None
        self.limits = Limits()

    def program(self, params: Params) -> Thing:
        """Run the program that `exec` or `process.start` names."""
        wanted = params.get("id")
        thing = Thing(secrets.token_hex(4) if wanted is None else wanted, "stdout", "stderr")
        out, err = thing.journals["stdout"], thing.journals["stderr"]
        argv = params.get("argv") or ["sh", params["command"]]
        self.runs.append(" ".join(argv))
        match argv:
            case ["cat"]:
                thing.on_input = out.write
                thing.on_eof = lambda: thing.finish(code=0)
            case ["print", text, *rest]:
                out.write(text.encode())
                err.write("".join(rest).encode())
                thing.finish(code=0)
            case ["fail", code]:
                err.write(b"no luck\n")
                thing.finish(code=int(code))
            case ["flood", size]:
                out.write(bytes(range(256)) * (int(size) // 256))
                err.write(b"e" * 1000)
                thing.finish(code=0)
            case ["hang"]:
                pass
            case ["sh", text]:
                out.write(text.encode())
                thing.finish(code=0)
            case _:
                raise HawseError("spawn_failed", argv[0])
        return thing


class Attachment:
    """A channel that sends journals: a `hawse.wire.Source`."""

    def __init__(self, thing: Thing, kinds: dict[Kind, str], offsets: dict[Kind, int], input: str | None) -> None:
        self.thing = thing
        self.kinds = kinds
        self.offsets = offsets
        self.input = input
        self.events: list[tuple[str, Any]] = []
        self.screen = b""
        self.painted = 0  # bytes of the screen that have been dropped
        self.result: Callable[[], Any] = dict
        self.live = False

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        while self.events and connection.window(ch):
            name, value = self.events.pop(0)
            connection.send_event(ch, name, value)
        if self.events or not connection.window(ch):
            return False
        if self.screen:
            part = self.screen[: min(1000, connection.window(ch))]
            connection.send_data(ch, Kind.SCREEN, self.painted, part)
            self.painted += len(part)
            self.screen = self.screen[len(part) :]
            return True
        for kind, name in self.kinds.items():
            journal = self.thing.journals[name]
            part = journal.read(self.offsets[kind], min(size, connection.window(ch), connection.limits.payload))
            if part:
                connection.send_data(ch, kind, self.offsets[kind], part)
                self.offsets[kind] += len(part)
                return True
        if self.live:
            self.live = False
            connection.send_event(ch, "live", {"offset": self.offsets[Kind.OUTPUT]})
            return True
        if self.thing.over:
            if "output" in self.thing.journals:
                connection.send_event(ch, "exit", self.thing.exit)
            connection.send_result(ch, self.result())
        return False


class Session:
    """One connection."""

    def __init__(self, world: World, websocket: ServerConnection, changed: Callable[[], None]) -> None:
        self.world = world
        self._changed = changed  # called after each received or sent message
        self.websocket = websocket
        self.connection = Connection(Role.SERVER, world.limits)
        self.writer = FairWriter(self.connection)
        self.attachments: dict[int, Attachment] = {}
        self.wakes: dict[int, Callable[[], None]] = {}
        self.calls: list[Call] = []
        self.kick = asyncio.Event()

    async def run(self) -> None:
        try:
            async with asyncio.TaskGroup() as group:
                writing = group.create_task(self._write())
                async for message in self.websocket:
                    if isinstance(message, str):
                        self.connection.receive_text(message)
                    else:
                        self.connection.receive_data(message)
                    for event in self.connection.events():
                        self._receive(event)
                    self.kick.set()
                    self._changed()
                writing.cancel()
        except* RemoteProtocolError as errors:
            for message in self.connection.data_to_send():
                await self.websocket.send(message)
            await self.websocket.close(errors.exceptions[0].close_code)  # type: ignore[union-attr]
        except* ConnectionClosed:
            pass
        finally:
            for ch in [*self.attachments]:
                self._forget(ch)

    async def go_away(self, retry_after: float) -> None:
        """Send `goaway` and close, like a restarting server."""
        self.connection.goaway("restart", retry_after)
        for message in self.connection.data_to_send():
            await self.websocket.send(message)
        await self.websocket.close(1012)

    async def _write(self) -> None:
        while True:
            batch = self.writer.take(65536)
            if not batch:
                self.kick.clear()
                await self.kick.wait()
            for message in batch:
                await self.websocket.send(message)
            self._changed()

    def _receive(self, event: Any) -> None:
        match event:
            case Hello():
                self.connection.send_welcome("fake/1", identity="me", role="owner")
            case Call():
                self.calls.append(event)
                try:
                    self._call(event, from_raw(event.params))
                except HawseError as error:
                    self.connection.send_error(event.ch, error)
            case Data():
                self._input(event)
            case End():
                self.attachments[event.ch].thing.end_input()
            case Credit():
                self.writer.wake(event.ch)
            case Cancel():
                self._forget(event.ch)
                self.connection.send_error(event.ch, HawseError("cancelled", admitted="yes"))

    def _input(self, data: Data) -> None:
        attachment = self.attachments.get(data.ch)
        if attachment is None:
            return
        assert attachment.input
        attachment.thing.apply(attachment.input, data.offset, bytes(data.payload))
        if len(data.payload):
            self.connection.grant(data.ch, len(data.payload))

    def _call(self, call: Call, params: Params) -> None:
        world = self.world
        if world.fail.get(call.method):
            raise world.fail[call.method].pop(0)
        if call.method in world.silent:
            return
        match call.method:
            case "echo":
                self.connection.send_result(call.ch, params)
            case "never":
                pass
            case "count":
                if call.key not in world.outcomes:
                    world.runs.append("count")
                    world.outcomes[call.key or ""] = len(world.runs)
                self.connection.send_result(call.ch, world.outcomes[call.key or ""])
            case "terminal.create":
                self.connection.send_result(call.ch, self._create(params))
            case "terminal.attach":
                self._attach_terminal(call.ch, params)
            case "terminal.wait":
                self._wait_terminal(call.ch, world.terminals[params["id"]])
            case "terminal.resize":
                thing = world.terminals[params["id"]]
                thing.size = (params["cols"], params["rows"])
                self.connection.send_result(call.ch, {"cols": params["cols"], "rows": params["rows"]})
            case "terminal.signal" | "process.signal":
                world.runs.append(f"signal {params['signal']}")
                self.connection.send_result(call.ch, {})
            case "terminal.kill" | "process.kill":
                execs = {thing.id: thing for thing in world.keyed.values()}
                things = world.terminals if call.method.startswith("t") else execs | world.processes
                things[params["id"]].finish(code=None, signal="SIGKILL")
                self.connection.send_result(call.ch, {"exit": {"signal": "SIGKILL"}})
            case "process.start":
                if call.key not in world.keyed:
                    world.keyed[call.key or ""] = thing = world.program(params)
                    world.processes[thing.id] = thing
                thing = world.keyed[call.key or ""]
                self.connection.send_result(call.ch, {"id": thing.id, "instance": thing.instance, "pid": 7})
            case "process.attach" | "exec":
                self._attach_process(call, params)
            case "file.read":
                self._read(call.ch, params)
            case "file.write":
                self._write_file(call, params)
            case "file.cancel":
                world.cancelled.append(params["key"])
                self.connection.send_result(call.ch, {})
            case "file.stat":
                data = world.files[params["path"]]
                stat = {"path": params["path"], "type": "file", "size": len(data), "mode": 0o644, "mtime": 1.5}
                self.connection.send_result(call.ch, {**stat, "version": world.version})
            case _:
                raise HawseError("unknown_method", call.method)

    def _create(self, params: Params) -> Params:
        id = secrets.token_hex(4) if params.get("id") is None else params["id"]
        thing = self.world.terminals.get(id)
        if thing is None:
            thing = self.world.terminals[id] = Thing(id, "output")
            thing.size = (params.get("cols", 80), params.get("rows", 24))
            thing.on_input = thing.journals["output"].write
        return TERMINAL | {"id": id, "instance": thing.instance, "created": True}

    def _attach_terminal(self, ch: int, params: Params) -> None:
        thing = self.world.terminals.get(params["id"])
        if thing is None:
            raise HawseError("not_found", params["id"])
        if params.get("instance") not in (None, thing.instance):
            raise HawseError("stale_handle", params["id"])
        journal, since = thing.journals["output"], params.get("since")
        start_at, start = ("start", 0) if since is None else ("resume", since)
        screen = b""
        if start < journal.start:
            start_at, start = "snapshot", journal.end
            screen = (b"SCREEN@%d " % start) * 500
        attachment = Attachment(thing, {Kind.OUTPUT: "output"}, {Kind.OUTPUT: start}, params.get("input"))
        attachment.events.append(
            (
                "opened",
                OPENED
                | {
                    "id": thing.id,
                    "instance": thing.instance,
                    "start_at": start_at,
                    "from": start,
                    "screen": len(screen),
                    "cols": thing.size[0],
                    "rows": thing.size[1],
                    "input_offset": thing.applied.get(params.get("input") or "", 0),
                },
            )
        )
        attachment.screen = screen
        attachment.live = True
        attachment.result = lambda: {"exit": thing.exit, "offset": journal.end}
        self._attach(ch, attachment)

    def _wait_terminal(self, ch: int, thing: Thing) -> None:
        """Wait for the end of a terminal."""
        journal = thing.journals["output"]

        def check() -> None:
            if journal.closed and check in journal.wakes:
                journal.wakes.discard(check)
                result = {"from": 0, "event": "exit", "offset": journal.end, "exit": thing.exit}
                self.connection.send_result(ch, result)
                self.kick.set()

        journal.wakes.add(check)
        check()

    def _attach_process(self, call: Call, params: Params) -> None:
        if call.method == "exec":
            key = call.key or secrets.token_hex(4)
            if key not in self.world.keyed:
                self.world.keyed[key] = self.world.program(params)
            thing = self.world.keyed[key]
        elif (found := self.world.processes.get(params["id"])) is not None:
            thing = found
        else:
            raise HawseError("not_found", params["id"])
        if params.get("instance") not in (None, thing.instance):
            raise HawseError("stale_handle", params["id"])
        since = params.get("since") or {}
        starts = {name: max(since.get(name) or 0, journal.start) for name, journal in thing.journals.items()}
        kinds = {Kind.OUTPUT: "stdout", Kind.STDERR: "stderr"}
        attachment = Attachment(thing, kinds, {kind: starts[name] for kind, name in kinds.items()}, params.get("input"))
        opened = {"id": thing.id, "instance": thing.instance, "pid": 7, "from": starts}
        opened["input_offset"] = thing.applied.get(params.get("input") or "", 0)
        attachment.events.append(("opened", opened))

        def result() -> Params:
            ends = {name: journal.end for name, journal in thing.journals.items()}
            return {**thing.exit, **ends} if call.method == "exec" else {"exit": thing.exit, **ends}

        attachment.result = result
        self._attach(call.ch, attachment)

    def _read(self, ch: int, params: Params) -> None:
        data = self.world.files.get(params["path"])
        if data is None:
            raise HawseError("not_found", params["path"])
        if params.get("version") not in (None, self.world.version):
            raise HawseError("conflict", "changed")
        start = params.get("offset") or 0
        stop = len(data) if params.get("length") is None else min(start + params["length"], len(data))
        thing = Thing("file", "data")
        thing.journals["data"] = Journal(start, bytearray(data[start:stop]), closed=True)
        attachment = Attachment(thing, {Kind.OUTPUT: "data"}, {Kind.OUTPUT: start}, None)
        version = self.world.version
        attachment.events.append(("opened", {"size": len(data), "version": version, "mode": 0o644, "mtime": 1.5}))
        attachment.result = lambda: {"bytes": stop - start, "version": version}
        self._attach(ch, attachment)

    def _write_file(self, call: Call, params: Params) -> None:
        key = call.key or secrets.token_hex(4)
        if key not in self.world.keyed:
            thing = self.world.keyed[key] = Thing("file", "nothing")

            def store() -> None:
                self.world.files[params["path"]] = bytes(thing.typed)
                self.world.runs.append(f"write {params['path']}")
                thing.finish()

            thing.on_eof = store
        thing = self.world.keyed[key]
        attachment = Attachment(thing, {}, {}, params["input"])
        attachment.events.append(("opened", {"input_offset": thing.applied.get(params["input"], 0)}))
        attachment.result = lambda: {"bytes": len(thing.typed), "version": "v2"}
        self._attach(call.ch, attachment)

    def _attach(self, ch: int, attachment: Attachment) -> None:
        def wake() -> None:
            self.writer.wake(ch)
            self.kick.set()

        self.attachments[ch], self.wakes[ch] = attachment, wake
        for journal in attachment.thing.journals.values():
            journal.wakes.add(wake)
        self.writer.attach(ch, attachment)

    def _forget(self, ch: int) -> None:
        attachment = self.attachments.pop(ch, None)
        if attachment:
            wake = self.wakes.pop(ch)
            for journal in attachment.thing.journals.values():
                journal.wakes.discard(wake)
        self.writer.detach(ch)


class FakeServer:
    """`async with FakeServer() as server:` listens on loopback; `server.world` is the state of its sandboxes."""

    def __init__(self) -> None:
        self.world = World()
        self.sessions: list[Session] = []  # open ones
        self.served = 0
        self.port = 0
        self.authorization: list[str | None] = []
        self._server: Server | None = None
        self._changes = Changes()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition`, which depends on the sessions and their calls, returns a true value."""
        await self._changes.until(condition)

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    @property
    def session(self) -> Session:
        return self.sessions[-1]

    async def __aenter__(self) -> "FakeServer":
        self._server = await serve(
            self._handle,
            "127.0.0.1",
            0,
            subprotocols=["hawse.v1"],  # type: ignore[list-item]
            compression=None,
            ping_interval=None,
            close_timeout=0.2,
            max_size=None,
        )
        self.port = next(iter(self._server.sockets)).getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server
        self._server.close()
        await self._server.wait_closed()

    async def _handle(self, websocket: ServerConnection) -> None:
        assert websocket.request
        self.authorization.append(websocket.request.headers.get("Authorization"))
        session = Session(self.world, websocket, self._changes.notify)
        if self.world.token and self.authorization[-1] != f"Bearer {self.world.token}":
            await websocket.send(
                '{"type":"error","code":"unauthenticated","message":"no","retryable":false,"admitted":"no"}'
            )
            await websocket.close(4401)
            return
        self.served += 1
        self.sessions.append(session)
        try:
            await session.run()
        finally:
            self.sessions.remove(session)
            self._changes.notify()
