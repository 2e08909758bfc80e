"""Connects to a runtime over a Unix socket or TCP, and aborts the link if the runtime stops responding."""

import asyncio
import math
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Final, Protocol, cast

from hawse.link.keystrokes import Keystrokes
from hawse.link.sockets import socket_address
from hawse.link.stream_link import StreamLink, credentials
from hawse.wire import Connection, Data, Error, HawseError, Limits, Message, Role, Welcome
from hawse.wire.limits import LINK_CHANNELS
from hawse_gateway.providers.base import Endpoint, MachineAddress, TcpAddress
from hawse_gateway.providers.pinned import pinned_context

PING_INTERVAL: Final = 10.0  # s
SILENCE_TIMEOUT: Final = 30.0  # seconds without a message until a runtime is considered stuck


class LinkOwner(Protocol):
    """Receives a link's events after `welcome`."""

    def link_received(self, link: StreamLink, event: Message | Data) -> None: ...

    def link_drained(self) -> None:
        """Called when the transport is ready for more bytes."""

    def link_lost(self, link: StreamLink, error: Exception | None) -> None: ...


class MachineConnector(Protocol):
    """Connects to machines that have joined this gateway (`hawse_gateway.providers.joined.machines`)."""

    async def connect(self, unit: str, make: "Callable[[], RuntimeLink]") -> "RuntimeLink":
        """Wait until a unit's machine can carry a link, and return the link that `make` creates."""
        ...


class RuntimeLink(StreamLink):
    """The gateway's side of a stream link to a runtime.

    Attributes:
        ready: A future that completes once the runtime has sent `welcome`. Fails with the link's error or the runtime's
            refusal.
        lost: Set when the link is closed.
        abilities: The abilities that the runtime announced in `welcome`.
        alone_since: When the sandbox's previous runtime ended, on the event loop's clock. Infinite if unknown.
    """

    def __init__(
        self, owner: LinkOwner, token: str | None, uid: int | None = None, keystrokes: Keystrokes | None = None
    ) -> None:
        connection = Connection(Role.CLIENT, Limits(channels=LINK_CHANNELS), window=0)
        connection.send_hello("hawse-gateway", token, shares=True)
        super().__init__(connection, self, keystrokes=keystrokes)
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.lost = asyncio.Event()
        self.abilities: Sequence[str] = ()
        self.alone_since = math.inf
        self._owner = owner
        self._uid = uid
        self._clock = loop.time
        self._last_received = loop.time()

    @property
    def silence(self) -> float:
        """The number of seconds since the last message."""
        return self._clock() - self._last_received

    @property
    def alone(self) -> float:
        """The number of seconds since the sandbox's previous runtime ended. Negative if unknown."""
        return self._clock() - self.alone_since

    def ping(self) -> None:
        self.connection.ping(self._clock())
        self.flush()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        peer = credentials(transport)
        if self._uid is not None and (peer is None or peer.uid != self._uid):
            refusal = "the process that listens on the runtime's socket belongs to another user"
            # `hello` has not been sent yet, so the other process doesn't receive the token.
            self.ready.set_exception(HawseError("unavailable", refusal))
            cast(asyncio.Transport, transport).abort()
            return
        super().connection_made(transport)

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        self._last_received = self._clock()
        if self.ready.done():
            self._owner.link_received(self, event)
        elif isinstance(event, Welcome):
            self.abilities = event.abilities
            self.ready.set_result(None)
        elif isinstance(event, Error):
            # The runtime's error code is replaced, because `unauthenticated` would tell the client that its own token
            # is wrong.
            refusal = f"the runtime refused the gateway's connection: {event.code}: {event.message}"
            self.ready.set_exception(HawseError("unavailable", refusal))

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(
                error or ConnectionResetError("the runtime closed the connection before `welcome`")
            )
        self.lost.set()
        self._owner.link_lost(self, error)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._owner.link_drained()


async def dial(
    endpoint: Endpoint,
    owner: LinkOwner,
    keystrokes: Keystrokes | None = None,
    machines: MachineConnector | None = None,
) -> RuntimeLink:
    """Connect to a runtime and wait for its `welcome`.

    Args:
        endpoint: The runtime's address, and the token that it expects in `hello`.
        owner: Receives the link's events.
        keystrokes: Detects typing. While a user is typing, input is sent in small frames.
        machines: Connects to joined machines. None if machines can't join.

    Raises:
        OSError: The address does not accept connections, or the runtime closed the connection.
        RemoteProtocolError: The runtime violated the protocol.
        HawseError: `unavailable` if the runtime refused the connection, for example because of a wrong token, or if
            another program listens at its address.
    """
    loop = asyncio.get_running_loop()

    def make() -> RuntimeLink:
        return RuntimeLink(owner, endpoint.token, endpoint.uid, keystrokes)

    address = endpoint.address
    if isinstance(address, MachineAddress):
        if machines is None:
            raise HawseError("unavailable", "this gateway no longer accepts machines")
        return await _welcomed(await machines.connect(address.unit, make))
    if isinstance(address, TcpAddress):
        context = None if endpoint.certificate is None else pinned_context(endpoint.certificate)
        try:
            _, link = await loop.create_connection(make, address.host, address.port, ssl=context)
        except ssl.SSLCertVerificationError as error:
            raise HawseError("unavailable", f"another program answers at the runtime's address {address}") from error
    else:
        with socket_address(address) as path:
            _, link = await loop.create_unix_connection(make, path)
    return await _welcomed(link)


async def dial_server(accept: Callable[[], asyncio.BaseProtocol], owner: LinkOwner) -> RuntimeLink:
    """Connect to a server in this process over a socket pair. Raises `OSError` if no descriptors are free."""
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    await loop.connect_accepted_socket(accept, theirs)
    _, link = await loop.create_unix_connection(lambda: RuntimeLink(owner, None), sock=ours)
    return await _welcomed(link)


async def _welcomed(link: RuntimeLink) -> RuntimeLink:
    try:
        await link.ready
    except BaseException:
        link.abort()
        raise
    return link


async def watch(link: RuntimeLink, *, interval: float = PING_INTERVAL, silence: float = SILENCE_TIMEOUT) -> None:
    """Wait until the link is lost. Aborts the link if the runtime does not respond to pings.

    Args:
        link: The link, which must be ready.
        interval: Seconds between pings.
        silence: The maximum time without a message before the link is aborted, in seconds.
    """
    while not link.lost.is_set():
        try:
            async with asyncio.timeout(interval):
                await link.lost.wait()
        except TimeoutError:
            if link.silence > silence:
                link.abort(TimeoutError(f"the runtime sent nothing for {silence:g} s"))
                await link.lost.wait()
            else:
                link.ping()
