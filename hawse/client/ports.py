"""Ports of a sandbox: which are open, previews of them, and connections to them."""

import builtins
import re
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import msgspec

from hawse.api import Params
from hawse.api.gateway import PreviewHost
from hawse.api.ports import (
    ExposedPort,
    OpenPort,
    PortConnectOpened,
    PortConnectResult,
    PortExpose,
    PortExposed,
    PortList,
    PortListResult,
    PortUnexpose,
)
from hawse.client.base.errors import ClientClosedError
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.wire import Data, Event, HawseError, Kind, Limits, RemoteProtocolError

LANE = "port"
LOOPBACK = ("localhost", "127.0.0.1", "::1")
LABEL_MAX = 63  # characters of one label of a name (RFC 1035)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """What leads to an exposed port, for whoever knows it. Where there is no name for it, `url` is `path_url`."""

    port: int
    token: str
    url: str  # an origin of its own: everything works
    path_url: str  # below the gateway's address, its pages in a sandbox
    name: str | None = None


class PortWatchCall(ClientCall):
    """`port.watch`: each event is all there is, so a later one takes the place of one that was not read."""

    def __init__(self, sandbox: str, *, window: int) -> None:
        super().__init__("port.watch", sandbox=sandbox, repeats=True)
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self._last: list[OpenPort] | None = None

    def receive_event(self, event: Event) -> None:
        if event.name != "ports":
            self.spend(event_cost(event))
            return
        ports = parse(event.value, PortListResult).ports
        if ports == self._last:  # as after a reconnect
            self.spend(event_cost(event))
            return
        self._last = ports
        self.inbox.supersede(LANE, lambda item: True)
        self.inbox.put(LANE, ports, event_cost(event))
        self.mark_opened()


class PortWatch:
    """`async with sandbox.ports.watch() as watch: async for ports in watch: …`

    Yields a list of all open ports, at once and whenever it has changed; a state that nobody read is left out.
    """

    def __init__(self, calls: CallTable, call: PortWatchCall) -> None:
        self._calls = calls
        self._call = call

    async def __aenter__(self) -> "PortWatch":
        await self._calls.begin(self._call)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))

    def __aiter__(self) -> OutputIterator[list[OpenPort]]:
        return OutputIterator(self._call.inbox, self._next)

    async def _next(self) -> list[OpenPort]:
        _, item = await self._call.inbox.get(LANE)
        assert isinstance(item, list)
        return item


class PortConnectCall(ClientCall):
    """`port.connect`: a line that is lost breaks it."""

    def __init__(self, sandbox: str, params: dict[str, Any], *, window: int) -> None:
        super().__init__("port.connect", params, sandbox=sandbox)
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.feed: InputStream = InputStream(Limits().input_window, self.wake)
        self.address = ""
        self._cursor = OffsetCursor(0)

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            self.address = parse(event.value, PortConnectOpened).address
            self.mark_opened()
        elif event.name == "end":
            self.inbox.finish(None)
        self.spend(event_cost(event))

    def receive_data(self, data: Data) -> None:
        if data.kind is not Kind.OUTPUT:
            raise RemoteProtocolError(f"{data.kind.name} of a port")
        self.inbox.put_bytes(LANE, data.offset, self._cursor.accept(data.offset, data.payload))

    def finished(self, value: msgspec.Raw) -> PortConnectResult:
        return parse(value, PortConnectResult)


class PortConnection:
    """`async with sandbox.ports.connect(5432) as stream:` — a TCP connection. Leaving breaks what is left of it.

    Iterating and writing raise `interrupted` when the line is lost, `io_error` when the connection breaks.
    """

    def __init__(self, calls: CallTable, call: PortConnectCall) -> None:
        self._calls = calls
        self._call = call

    async def __aenter__(self) -> "PortConnection":
        """Raises `unavailable` if nobody listens, `forbidden` if it is not the sandbox's, `not_found`."""
        await self._calls.begin(self._call)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.abandon(self._call, ClientClosedError("this connection was closed"))

    async def read(self) -> bytes:
        """Some bytes; none when the other side sends no more."""
        try:
            return await self._next()
        except StopAsyncIteration:
            return b""

    def __aiter__(self) -> OutputIterator[bytes]:
        return OutputIterator(self._call.inbox, self._next)

    async def write(self, data: BytesLike) -> None:
        """Send; waits while the other side does not read."""
        await self._call.feed.write(data)

    async def flush(self) -> None:
        """Wait until the other side's machine has taken everything written."""
        await self._call.feed.flush()

    async def end(self) -> None:
        """Close our half: the other side sees the end. It may still send."""
        await self._call.feed.end()

    async def close(self) -> None:
        """Close our half and wait for the other; what still comes is dropped."""
        await self.end()
        with self._call.inbox.without_readers():
            await self._calls.outcome(self._call)

    async def _next(self) -> bytes:
        _, item = await self._call.inbox.get(LANE)
        assert isinstance(item, BufferedChunk)
        return bytes(item.data)


class Ports:
    """The ports of a sandbox. It holds nothing open. `gateway`: the address of the gateway, for the addresses made."""

    def __init__(self, calls: CallTable, sandbox: str, *, gateway: str, window: int) -> None:
        self._calls = calls
        self._sandbox = sandbox
        self._gateway = gateway
        self._window = window

    async def list(self) -> builtins.list[OpenPort]:
        """What programs of the sandbox listen on, by number."""
        return (await self._request(PortList())).ports

    def watch(self) -> PortWatch:
        """What is open now, and after every change. See `PortWatch`."""
        return PortWatch(self._calls, PortWatchCall(self._sandbox, window=self._window))

    async def expose(self, port: int, *, name: str | None = None) -> Preview:
        """Make a preview of a port: who knows its address gets there, and nowhere else. Again, it is the same one.

        Nobody need listen yet. It holds until `unexpose`, or until the runtime ends. Raises `forbidden` if the port is
        somebody else's, `limit_exceeded`.
        """
        exposed = await self._request(PortExpose(port=port, name=name))
        return self._preview(exposed, await self._host())

    async def unexpose(self, port: int) -> None:
        """Take a preview back, and cut who is in it. Of a port that has none it does nothing."""
        await self._request(PortUnexpose(port=port))

    async def exposed(self) -> builtins.list[Preview]:
        """The previews there are."""
        host = await self._host()
        return [self._preview(found, host) for found in (await self._request(PortExposed())).exposed]

    def connect(self, port: int | None = None, *, token: str | None = None) -> PortConnection:
        """A TCP connection to a port, or by a preview's token, for `async with`. See `PortConnection`."""
        params = {"port": port, "token": token}
        return PortConnection(self._calls, PortConnectCall(self._sandbox, params, window=self._window))

    # ---- inside

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)

    async def _host(self) -> str | None:
        """The name below which previews have names; None from a gateway that has none."""
        try:
            return (await self._calls.request(PreviewHost(), sandbox=None)).host
        except HawseError as error:
            if error.code not in ("unknown_method", "forbidden"):
                raise
            return None

    def _preview(self, exposed: ExposedPort, host: str | None) -> Preview:
        path = f"{self._gateway}/p/{self._sandbox}/{exposed.token}/"
        url = by_name(self._gateway, host, self._sandbox, exposed) or path
        return Preview(port=exposed.port, token=exposed.token, name=exposed.name, url=url, path_url=path)


def by_name(gateway: str, host: str | None, sandbox: str, exposed: ExposedPort) -> str | None:
    """The address with a name of its own; None where there can be none (docs/wire.md, "Previews").

    Below `localhost` there are names only for whoever is on the gateway's own machine.
    """
    label = f"{exposed.port}-{sandbox}-{exposed.token}"
    parts = urlsplit(gateway)
    if host is None or len(label) > LABEL_MAX or not _LABEL.fullmatch(sandbox):
        return None
    if host == "localhost" and parts.hostname not in LOOPBACK and not (parts.hostname or "").endswith(".localhost"):
        return None
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{label}.{host}{port}/"
