"""A sandbox's ports: open ports, previews, and TCP connections."""

import builtins
import re
from urllib.parse import urlsplit

import msgspec

from hawse.api.ports import (
    ExposedPort,
    OpenPort,
    PortAccept,
    PortConnect,
    PortConnectEnd,
    PortConnectOpened,
    PortExpose,
    PortExposed,
    PortIncoming,
    PortList,
    PortListen,
    PortListResult,
    PortUnexpose,
    PortWatch,
    PreviewHost,
)
from hawse.client.calls.byte_stream import ByteStream, ByteStreamCall
from hawse.client.calls.call import event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.calls.state_stream import StateStream, StateStreamCall
from hawse.client.port_listener import PortListenCall, PortListener
from hawse.wire import Event, HawseError

LOOPBACK = ("localhost", "127.0.0.1", "::1")
LABEL_MAX = 63  # maximum length of a host name label (RFC 1035)
_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]*[a-z0-9])?")


class Preview(msgspec.Struct, frozen=True, kw_only=True):
    """The URLs for an exposed port. If the gateway has no host name for the port, `url` is the same as `path_url`."""

    port: int
    token: str
    url: str  # has its own origin, where all browser features work
    path_url: str  # below the gateway's URL, where pages run in a sandboxed document
    name: str | None = None


class PortConnectCall(ByteStreamCall):
    """A call to `port.connect` or `port.accept`. If the connection is lost, the call ends with `interrupted`."""

    subject = "the port"

    def __init__(self, params: PortConnect | PortAccept, *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, window=window)
        self.address = ""

    def receive_event(self, event: Event) -> None:
        match self.decode(event):
            case PortConnectOpened() as opened:
                self.address = opened.address
                self.mark_opened()
            case PortConnectEnd():
                self.receive_buffer.finish(None)
        self.spend(event_cost(event))


class PortConnection(ByteStream[PortConnectCall]):
    """`async with box.ports.connect(5432) as stream:` — a TCP connection. Leaving the block resets the connection,
    unless it has already ended.

    Entering raises `unavailable` if no program is listening, `forbidden` if the port does not belong to the sandbox,
    and `not_found`. Iterating and writing raise `interrupted` if the client's connection is lost, and `io_error` if the
    TCP connection breaks.
    """

    async def flush(self) -> None:
        """Wait until the sandbox has written all bytes to the TCP connection."""
        await self._call.input_stream.flush()

    async def end(self) -> None:
        """Close this half of the connection. The other end reads EOF and can still send."""
        await self._call.input_stream.end()

    async def close(self) -> None:
        """Close this half of the connection and wait until the other end has closed its half. Data that arrives in the
        meantime is discarded.
        """
        await self.end()
        with self._call.receive_buffer.without_readers():
            await self._calls.outcome(self._call)


class Ports(SandboxPart):
    """A sandbox's ports. The handle doesn't have to be closed."""

    def __init__(self, calls: CallTable, sandbox: str, *, gateway: str, window: int) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            sandbox: The id of the sandbox.
            gateway: The gateway's HTTP URL, for preview URLs.
            window: Number of bytes the server can send before the client reads them.
        """
        super().__init__(calls, sandbox, window=window)
        self._gateway = gateway

    async def list(self) -> builtins.list[OpenPort]:
        """Return the ports that programs in the sandbox are listening on, sorted by number."""
        return (await self._request(PortList())).ports

    def watch(self) -> StateStream[builtins.list[OpenPort]]:
        """Return a context manager and iterator over the open ports, now and after every change."""
        call = StateStreamCall(PortWatch(), sandbox=self._sandbox, window=self._window)
        return StateStream(self._calls, call, _ports_of)

    async def expose(self, port: int, *, name: str | None = None, token: str | None = None) -> Preview:
        """Create a preview of a port, or return the existing preview. Its URL only gives access to this port.

        No program needs to be listening yet. The preview lasts until `unexpose`, or until the sandbox is deleted.

        Args:
            port: The port.
            name: A display name.
            token: The token in the address, 8 to 40 lower-case letters and digits; None generates an unguessable token.

        Raises:
            HawseError: `forbidden` if the port does not belong to the sandbox, `limit_exceeded`; `conflict` if the port
                has another token, or the token belongs to another port.
        """
        exposed = await self._request(PortExpose(port=port, name=name, token=token))
        return self._preview(exposed, await self._host())

    async def unexpose(self, port: int) -> None:
        """Remove a preview, and close the connections through it. It is not an error if the port has no preview."""
        await self._request(PortUnexpose(port=port))

    async def exposed(self) -> builtins.list[Preview]:
        """Return all previews."""
        host = await self._host()
        return [self._preview(found, host) for found in (await self._request(PortExposed())).exposed]

    def connect(self, port: int | None = None, *, token: str | None = None) -> PortConnection:
        """Return a TCP connection to a port, specified by its number or by a preview's token. See `PortConnection`."""
        params = PortConnect(port=port, token=token)
        return PortConnection(self._calls, PortConnectCall(params, sandbox=self._sandbox, window=self._window))

    def listen(self, port: int = 0) -> PortListener:
        """Return a listener on a port in the sandbox, which forwards connections to this client. See `PortListener`.

        Args:
            port: The port, 1024 or above; 0 means a free port.
        """
        return PortListener(
            self._calls, PortListenCall(PortListen(port=port), sandbox=self._sandbox, window=self._window)
        )

    def accept(self, incoming: PortIncoming) -> PortConnection:
        """Return a connection reported by a listener. See `PortConnection`. Entering raises `not_found`."""
        params = PortAccept(connection=incoming.connection)
        return PortConnection(self._calls, PortConnectCall(params, sandbox=self._sandbox, window=self._window))

    # ---- internals

    async def _host(self) -> str | None:
        """Return the parent domain of previews; None if previews have no host names or this client may not query it."""
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
    """Return a preview's URL with its own host name; None if previews have no host names (docs/wire.md, "Previews").

    Names below `localhost` work only on the gateway's own machine.

    Args:
        gateway: The gateway's HTTP URL.
        host: The parent domain of previews.
        sandbox: The id of the sandbox.
        exposed: The preview.
    """
    label = f"{exposed.port}-{sandbox}-{exposed.token}"
    parts = urlsplit(gateway)
    if host is None or len(label) > LABEL_MAX or not _LABEL.fullmatch(sandbox):
        return None
    if host == "localhost" and parts.hostname not in LOOPBACK and not (parts.hostname or "").endswith(".localhost"):
        return None
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{label}.{host}{port}/"


def _ports_of(state: PortListResult) -> list[OpenPort]:
    return state.ports
