"""Fakes for the gateway's tests: a runtime, a provider, a served gateway, and well-behaved and hostile clients."""

import asyncio
import base64
import itertools
import json
import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Self, cast

from websockets.asyncio.client import ClientConnection, connect

from hawse.api.sandboxes import SandboxInfo
from hawse.link.stream_link import StreamLink
from hawse.wire import (
    Call,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    HawseError,
    Hello,
    Kind,
    Limits,
    Message,
    RemoteProtocolError,
    Role,
)
from hawse.wire.limits import LINK_CHANNELS
from hawse.wire.messages import ABILITY_PRINCIPALS, from_raw
from hawse_gateway.app import FEATURES, create_app
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.backups.settings import OF_IMAGES
from hawse_gateway.backups.stores import BackupStore, DirectoryStore
from hawse_gateway.connection.endpoint import ConnectEndpoint
from hawse_gateway.core.feature import Feature
from hawse_gateway.egress.settings import EgressSettings
from hawse_gateway.http.static import StaticPages
from hawse_gateway.limits.byte_rates import ByteRates
from hawse_gateway.limits.calls import CallRates
from hawse_gateway.limits.failed_attempts import FailedAttempts
from hawse_gateway.mounts.methods import MountOptions
from hawse_gateway.providers.base import Capabilities, Endpoint, Report, SandboxSpec
from hawse_gateway.providers.joined.provider import JOINED, JoinedProvider
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.egress import SandboxEgress
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import EVERYWHERE, SandboxIndex, Scope
from hawse_gateway.sandboxes.progress import ProgressTable
from hawse_gateway.sandboxes.records import SandboxRecord
from hawse_gateway.sandboxes.secret_grants import SecretGrants
from hawse_gateway.sandboxes.table import SandboxTable
from hawse_gateway.sandboxes.templates import Templates
from hawse_gateway.server import GatewayServer
from hawse_gateway.settings import Settings
from hawse_gateway.sign_on.feature import SignOn
from hawse_gateway.sign_on.oidc.service import SingleSignOn
from hawse_gateway.store.base import Store
from hawse_gateway.store.clock import Clock
from hawse_gateway.transport.listener import listen
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.upstream.links import Links
from tests.support.observed import ObservedConnections, ObservedWebSocket
from tests.support.principals import VIEWER
from tests.support.stores import MemoryStore, add_token
from tests.support.waiting import TIMEOUT, Changes

TOKEN = "the owner token of the tests"
VIEWER_TOKEN = "the viewer token of the tests"
PATTERN = bytes(range(251)) * 600  # a prime period reveals lost or repeated slices


def pattern(offset: int, size: int) -> bytes:
    """Return the content of a fake stream at `offset`; `size` is at most a frame's."""
    start = offset % 251
    return PATTERN[start : start + size]


async def eventually(condition: Callable[[], object]) -> None:
    """Poll until `condition()` holds, for state without events, such as descriptors, sockets and other processes."""
    async with asyncio.timeout(TIMEOUT):
        for count in itertools.count():  # no pause at first, because most conditions hold soon
            if condition():
                return
            await asyncio.sleep(0 if count < 100 else 0.005)


class Flood:
    """A source of `total` pattern bytes, then a result. It calls `stalled` when the window is exhausted."""

    def __init__(self, total: int, slice_: int = 65_536, stalled: Callable[[], None] = lambda: None) -> None:
        self.total = total
        self.slice = slice_
        self.offset = 0
        self.stalled = stalled

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        size = min(connection.window(ch), size, self.slice, self.total - self.offset)
        if size > 0:
            connection.send_data(ch, Kind.OUTPUT, self.offset, pattern(self.offset, size))
            self.offset += size
        if self.offset == self.total:
            connection.send_result(ch, {"bytes": self.total})
            return False
        if connection.window(ch) <= 0:
            self.stalled()
        return connection.window(ch) > 0


class Events:
    """A source of `count` events with a value of about `size` bytes, then a result."""

    def __init__(self, count: int, size: int) -> None:
        self.left = count
        self.value = "x" * size

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        while self.left and connection.window(ch) > 0:
            connection.send_event(ch, "tick", self.value, seq=self.left)
            self.left -= 1
        if not self.left:
            connection.send_result(ch)
        return False


class FakeRuntime(Changes):
    """Serves the protocol on a Unix socket. Methods: answer, echo, eat, events, fail, flood, hang, deaf, die."""

    def __init__(self, path: Path, **limits: Any) -> None:
        super().__init__()
        self.path = path
        self.limits = Limits(channels=LINK_CHANNELS, **limits)
        self.abilities = [ABILITY_PRINCIPALS]
        self.links: list[StreamLink] = []
        self.calls: dict[int, Call] = {}  # open calls
        self.seen: list[Call] = []
        self.cancelled: list[int] = []
        self.input: dict[int, bytearray] = {}
        self.mute = False  # whether unknown methods get no answer
        self.granted: dict[int, int] = {}  # bytes by channel, since it was opened
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        self.path.unlink(missing_ok=True)
        self._server = await asyncio.get_running_loop().create_unix_server(self._accept, str(self.path))

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        for link in self.links:
            link.abort()
        await self.until(lambda: not self.links)
        self.path.unlink(missing_ok=True)

    def _accept(self) -> StreamLink:
        link = StreamLink(Connection(Role.SERVER, self.limits), Notifying(self))
        self.links.append(link)
        return link

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        self.links = [one for one in self.links if one is not link]
        self.calls.clear()

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        match event:
            case Hello():
                link.connection.send_welcome("fake", identity="gateway", role="gateway", abilities=self.abilities)
            case Call():
                self.calls[event.ch] = event
                self.seen.append(event)
                self.granted[event.ch] = 0
                self.input[event.ch] = bytearray()
                self._call(link, event)
            case Data():
                self.input[event.ch] += event.payload
                if self.calls[event.ch].method == "echo":
                    link.connection.grant(event.ch, len(event.payload))
                    link.connection.send_data(event.ch, Kind.OUTPUT, event.offset, event.payload)
            case End():
                link.connection.send_result(event.ch, {"bytes": len(self.input[event.ch])})
            case Cancel():
                self.cancelled.append(event.ch)
                if self.calls[event.ch].method != "deaf":
                    link.connection.send_error(event.ch, HawseError("cancelled"))
            case Credit():
                self.granted[event.ch] += event.bytes
                link.writer.wake(event.ch)

    def _call(self, link: StreamLink, call: Call) -> None:
        params = from_raw(call.params)
        match call.method:
            case "answer":
                link.connection.send_result(call.ch, params)
            case "fail":
                link.connection.send_error(
                    call.ch, HawseError("conflict", "taken", admitted="yes", details={"path": "/x"})
                )
            case "flood":
                link.writer.attach(call.ch, Flood(params["bytes"], params.get("slice", 65_536), self.notify))
            case "events":
                link.writer.attach(call.ch, Events(params["count"], params["size"]))
            case "die":
                link.abort()
            case "echo" | "eat" | "hang" | "deaf":
                pass
            case _ if not self.mute:
                link.connection.send_error(call.ch, HawseError("unknown_method", call.method))


class Notifying:
    """Forwards the messages of a link, and notifies waiting tests."""

    def __init__(self, runtime: FakeRuntime) -> None:
        self._runtime = runtime

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        self._runtime.link_received(link, event)
        self._runtime.notify()

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        self._runtime.link_lost(link, error)
        self._runtime.notify()


class Recorded(FakeRuntime):
    """Has one recording, `r-1`, of `size` pattern bytes, readable only by an owner."""

    def __init__(self, path: Path, size: int) -> None:
        super().__init__(path)
        self.size = size

    def _call(self, link: StreamLink, call: Call) -> None:
        params = from_raw(call.params)
        if call.method == "recording.get" and params["id"] == "r-1":
            link.connection.send_result(call.ch, {"id": "r-1", "size": self.size})
        elif call.method == "recording.read" and call.principal is not None and call.principal.id == VIEWER.id:
            link.connection.send_error(call.ch, HawseError("forbidden", "only an owner may read it"))
        elif call.method == "recording.read":
            flood = Flood(params["offset"] + params["length"])
            flood.offset = params["offset"]
            link.writer.attach(call.ch, flood)
        else:
            link.connection.send_error(call.ch, HawseError("not_found", "no such recording"))


class FakeSandboxes(Changes):
    """One sandbox, `local`, with its runtime at `path`. `starts` counts the calls of `ensure`."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.starts = 0
        self.hold: asyncio.Event | None = None  # `ensure` waits for it
        self.error: HawseError | None = None  # `ensure` raises it
        self.closed = False
        self.store = MemoryStore()
        self.index = SandboxIndex(self.store)
        self.pool = SimpleNamespace(size=0, ready=0, claimed=0, missed=0)
        self.progress = ProgressTable()
        self.providers: dict[str, object] = {JOINED: JoinedProvider()}
        self.joining = SimpleNamespace(why=None)
        self.vacancy = SimpleNamespace(seconds=self.alone_for)
        self.alone = 0.0  # seconds; the result of `alone_for`
        self.egress = SandboxEgress(cast(SandboxTable, None), {}, SecretGrants(EgressSettings(), Templates()))

    @asynccontextmanager
    async def running(self, calls: object) -> AsyncIterator[None]:
        async with self.index.running():
            yield
        self.closed = True

    async def own(self, id: str, owner: str) -> None:
        """Write the row of a sandbox that a user owns."""
        given: dict[str, Any] = {
            "spec": SandboxSpec(),
            "wanted": "running",
            "generation": "g",
            "created": Clock().now(),
        }
        await self.store.write(records.new(SandboxRecord(id=id, unit=id, provider="fake", owner=owner, **given)))
        await self.index.current()

    def capabilities(self) -> Capabilities:
        return Capabilities(provider="fake", isolation="none")

    async def configuration(self, sandbox: str) -> None:
        """Return no configuration."""

    async def alone_for(self, sandbox: str) -> float:
        return self.alone

    async def get(self, sandbox: str) -> SandboxInfo:
        if sandbox != "local":
            raise HawseError("not_found", f"unknown sandbox {sandbox!r}")
        return SandboxInfo(id="local", state="running", isolation="none")

    async def page(self, scope: Scope, *_: object) -> tuple[list[SandboxInfo], None]:
        return ([await self.get("local")] if scope.includes("local", "owner") else []), None

    async def list(self, scope: Scope = EVERYWHERE) -> list[SandboxInfo]:
        return (await self.page(scope))[0]

    async def ensure(self, sandbox: str, report: Report | None = None, *, start: bool = True) -> Endpoint:
        await self.get(sandbox)
        self.starts += 1
        self.notify()
        if self.hold is not None:
            await self.hold.wait()
        if self.error is not None:
            raise self.error
        return Endpoint(self.path)


# Arguments of `Gateway` that replace a part.
GIVEN: Mapping[str, type[Any]] = {
    "calls": CallRates,
    "byte_rates": ByteRates,
    "failed_attempts": FailedAttempts,
    "web": StaticPages,
}


class Gateway:
    """A real uvicorn server on loopback, in this event loop."""

    def __init__(self, runtime: FakeRuntime, **options: Any) -> None:
        self.sandboxes = FakeSandboxes(runtime.path)
        websocket = options.pop("websocket", ObservedWebSocket)
        self._certificate = options.pop("certificate", None)
        self.audit = AuditLog(options.pop("audit", None))
        self.store = MemoryStore()
        add_token(self.store, VIEWER_TOKEN, VIEWER)
        self.credentials = Credentials(TOKEN, self.store)
        given: dict[type[Any], object] = {
            Store: self.sandboxes.store,
            Sandboxes: self.sandboxes,
            Credentials: self.credentials,
            AuditLog: self.audit,
            BackupStore: DirectoryStore(runtime.path.parent / "backups"),
            MountOptions: MountOptions.read(None, runtime.path.parent, images_size=OF_IMAGES),
            TunnelOptions: TunnelOptions(),
        }
        for name, kind in GIVEN.items():
            if name in options:
                given[kind] = options.pop(name)
        observers = options.pop("observers", ())
        defaults: dict[str, Any] = {"state": Path("/nonexistent"), "token": TOKEN, "port": 0, "hosts": ["gateway.test"]}
        defaults |= {"preview_host": None, "wrong_tokens": 1_000_000}
        self.settings = Settings(**defaults | options)
        observing = Feature("observers", lambda gateway: gateway.observers.extend(observers))
        self.gateway = create_app(self.settings, given, [observing, *FEATURES])
        self.app = self.gateway.asgi
        self.connect = self.gateway.composition.part(ConnectEndpoint)
        self.links = self.gateway.composition.part(Links)
        self.tickets: Any = self.gateway.composition.part(Tickets)
        self.index = self.gateway.composition.part(SandboxIndex)
        self.server = GatewayServer(self.gateway, self.settings, self._announce, self._certificate)
        self.server.config.ws = websocket
        self.connections = self.server.server_state.connections = ObservedConnections()
        self._started = asyncio.Event()
        self._tasks = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        self.listener = listen("127.0.0.1", 0)
        self.port = self.listener.getsockname()[1]
        await self._tasks.__aenter__()
        self.task = self._tasks.create_task(self.server.serve(sockets=[self.listener]))
        async with asyncio.timeout(TIMEOUT):
            await self._started.wait()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.server.begin_shutdown()
        await self._tasks.__aexit__(None, None, None)

    async def _announce(self) -> None:
        self._started.set()

    async def read_keys(self) -> None:
        """Read the keys of the OpenID provider, which otherwise happens in the background."""
        sign_on = self.gateway.composition.part(SignOn)
        assert isinstance(sign_on, SingleSignOn)
        await sign_on.provider.refresh()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition`, which depends on the connections, returns a true value."""
        await self.connections.changes.until(condition)

    async def until_clients_closed(self, remaining: int = 0) -> None:
        async with asyncio.timeout(TIMEOUT):
            await self.connect.wait_closed(remaining)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def ws_url(self) -> str:
        return f"{'ws' if self._certificate is None else 'wss'}://127.0.0.1:{self.port}/v1/connect"

    def dial(self, *, token: str | None = TOKEN, query: str = "", name: str = "127.0.0.1", **options: Any) -> connect:
        """Return a WebSocket of the `websockets` library. `name` is the host name that it uses for this gateway."""
        headers = dict(options.pop("headers", {}))
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        options = {"subprotocols": ["hawse.v1"], "compression": None, "max_size": None, "proxy": None} | options
        url = self.ws_url.replace("127.0.0.1", name, 1) + query
        return connect(url, host="127.0.0.1", port=self.port, additional_headers=headers, **options)

    def peer(self, *, window: int = 524_288, **options: Any) -> "Peer":
        return Peer(self.dial(**options), window)


class Peer:
    """A client that follows the protocol and exposes every received message."""

    def __init__(self, dialled: connect, window: int) -> None:
        self._dialled = dialled
        self.connection = Connection(Role.CLIENT, window=window)
        self.ws: ClientConnection

    async def __aenter__(self) -> Self:
        self.ws = await self._dialled.__aenter__()
        self.connection.send_hello("test")
        await self.flush()
        await self.receive()
        return self

    async def __aexit__(self, *error: Any) -> None:
        await self._dialled.__aexit__(*error)

    async def flush(self) -> None:
        for message in self.connection.data_to_send():
            await self.ws.send(message)

    async def call(self, method: str, params: Any = None, *, sandbox: str | None = "local", **options: Any) -> int:
        ch = self.connection.call(method, params or {}, sandbox=sandbox, **options)
        await self.flush()
        return ch

    async def ask(self, method: str, params: Any = None, **options: Any) -> Any:
        """Return the value of a call's result; raise its error."""
        ch = await self.call(method, params, **options)
        return await self.result(ch)

    async def result(self, ch: int) -> Any:
        while True:
            message: Any = await self.receive()
            if getattr(message, "ch", None) == ch:
                if message.type == "error":
                    raise message.to_exception()
                if message.type == "result":
                    return from_raw(message.value)

    async def send(self, ch: int, offset: int, data: bytes) -> None:
        self.connection.send_data(ch, Kind.INPUT, offset, data)
        await self.flush()

    async def receive(self, seconds: float = TIMEOUT) -> Any:
        """Return the next message, with `type`; frames also have `payload` as bytes. Raises `ConnectionClosed`."""
        events = self.connection.events()
        for event in events:
            return Seen(event)
        async with asyncio.timeout(seconds):
            message = await self.ws.recv()
        try:
            if isinstance(message, str):
                self.connection.receive_text(message)
            else:
                self.connection.receive_data(message)
        except RemoteProtocolError as error:
            raise AssertionError(f"the gateway broke the protocol: {error}") from error
        await self.flush()
        return await self.receive()


class Seen:
    """An event with the attributes that tests compare."""

    def __init__(self, event: Message | Data) -> None:
        self.event = event
        self.type = "data" if isinstance(event, Data) else type(event).__name__.lower()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.event, name)


class RawSocket:
    """A WebSocket for tests that break the protocol. Its receive buffer is small and is read only on request."""

    def __init__(self, gateway: Gateway, *, receive_buffer: int = 4096) -> None:
        self._gateway = gateway
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.setblocking(False)
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        await self._loop.sock_connect(self.socket, ("127.0.0.1", self._gateway.port))
        return self

    async def __aexit__(self, *_: object) -> None:
        self.socket.close()

    async def upgrade(self, target: str = "/v1/connect") -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        await self.send(
            f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: hawse.v1\r\n"
            f"Authorization: Bearer {TOKEN}\r\n\r\n".encode()
        )
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):
            answer += await self.receive(1)
        assert answer.startswith(b"HTTP/1.1 101"), answer

    async def hello(self, window: int = 4 << 20) -> None:
        await self.upgrade()
        await self.text({"type": "hello", "protocol": 1, "client": "raw", "window": window})

    async def text(self, message: dict[str, Any]) -> None:
        await self.frame(1, json.dumps(message).encode())

    async def frame(self, opcode: int, payload: bytes, *, fin: bool = True) -> None:
        await self.send(frame(opcode, payload, fin=fin))

    async def send(self, data: bytes) -> None:
        async with asyncio.timeout(TIMEOUT):
            await self._loop.sock_sendall(self.socket, data)

    async def receive(self, size: int = 65_536) -> bytes:
        """Return some bytes; empty if the gateway has closed or reset the connection."""
        async with asyncio.timeout(TIMEOUT):
            try:
                return await self._loop.sock_recv(self.socket, size)
            except ConnectionResetError:
                return b""


def frame(opcode: int, payload: bytes, *, fin: bool = True) -> bytes:
    """Return a masked frame whose mask is zero."""
    head = bytes([opcode | (0x80 if fin else 0)])
    if len(payload) < 126:
        size = bytes([0x80 | len(payload)])
    elif len(payload) < 65_536:
        size = bytes([0x80 | 126]) + len(payload).to_bytes(2, "big")
    else:
        size = bytes([0x80 | 127]) + len(payload).to_bytes(8, "big")
    return head + size + bytes(4) + payload
