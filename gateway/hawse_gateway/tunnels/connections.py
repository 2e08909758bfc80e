"""Limits the number of TCP connections to tunnels, and forwards the connections to ports in sandboxes."""

import asyncio
import errno
import logging
import socket
import struct
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, suppress
from functools import partial
from typing import Final

from hawse.wire import HawseError
from hawse_gateway.tunnels.client_hello import HelloError
from hawse_gateway.tunnels.options import AT_ONCE
from hawse_gateway.tunnels.relay import CHUNK, IDLE, Channel, relay
from hawse_gateway.tunnels.table import TunnelRecord

log = logging.getLogger(__name__)

AT_ONCE_EACH: Final = 256  # maximum number of connections per tunnel
AT_ONCE_UNNAMED: Final = 64  # maximum number of TLS connections whose server name has not been received yet
ACCEPT_PAUSE: Final = 1.0  # seconds to wait before accepting more connections after running out of resources
EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
NO_LINGER: Final = struct.pack("ii", 1, 0)  # socket option that makes closing send RST (socket(7))

# Connects to a tunnel's port. Takes the tunnel, the visitor's address (`HOST:PORT`), and a function to call when the
# tunnel ends.
Connect = Callable[[TunnelRecord, str, Callable[[], None]], AbstractAsyncContextManager[Channel]]


class ConnectionPlace:
    """Counts a connection toward a tunnel's limit."""

    def __init__(self, counts: Counter[str], name: str) -> None:
        """Count a connection toward the tunnel `name`. Pass "" if the tunnel is not known yet."""
        self._counts = counts
        self._name = name
        counts[name] += 1

    def move(self, name: str) -> bool:
        """Count the connection toward another tunnel instead. Return False if that tunnel is at its limit."""
        if self._counts[name] >= AT_ONCE_EACH:
            return False
        self.leave()
        self._name = name
        self._counts[name] += 1
        return True

    def leave(self) -> None:
        """Stop counting the connection."""
        self._counts[self._name] -= 1
        if not self._counts[self._name]:
            del self._counts[self._name]


ConnectionHandler = Callable[[socket.socket, str, ConnectionPlace], Awaitable[None]]


class TunnelConnections:
    """The connections that all listeners have accepted."""

    def __init__(self, connect: Connect, *, idle: float = IDLE) -> None:
        """Create an instance without connections.

        Args:
            connect: Connects to a tunnel's port.
            idle: The maximum time without data before a connection is closed, in seconds.
        """
        self._connect = connect
        self._idle = idle
        self._open: Counter[str] = Counter()  # connections per tunnel, or "" if the tunnel is unknown

    async def serve(self, record: TunnelRecord, listener: socket.socket) -> None:
        """Relay a listener's connections to a tunnel's port until cancelled. Closes the listener at the end."""

        async def handle(connection: socket.socket, address: str, place: ConnectionPlace) -> None:
            reader, writer = await streams(connection)
            try:
                await self.pass_on(record, reader, writer, address)
            finally:
                reset(writer)

        await self.accept(listener, handle, record.name, through=record.provider)

    async def accept(
        self, listener: socket.socket, handle: ConnectionHandler, name: str = "", *, through: str = ""
    ) -> None:
        """Accept connections until cancelled. Connections above the limits are closed immediately.

        Args:
            listener: The listening socket. This method closes it at the end.
            handle: Serves one connection and closes its socket.
            name: The tunnel's name, or "" if each connection names its tunnel itself.
            through: The host name to report for visitors who connect through a Unix socket.
        """
        loop = asyncio.get_running_loop()

        async def serve(connection: socket.socket, address: str, place: ConnectionPlace) -> None:
            try:
                await handle(connection, address, place)
            except* (HawseError, OSError, HelloError) as errors:
                log.info("! connection of tunnel %s: %s", name or "by name", errors.exceptions[0])
            except* Exception:  # a bug that affects one connection must not affect the others
                log.exception("! connection of tunnel %s", name or "by name")

        with listener:
            async with asyncio.TaskGroup() as tasks:
                while True:
                    try:
                        connection, peer = await loop.sock_accept(listener)
                    except OSError as error:
                        if error.errno in EXHAUSTED:
                            log.warning("! cannot accept connections of tunnel %s: %s", name or "by name", error)
                            await asyncio.sleep(ACCEPT_PAUSE)
                        continue
                    most = AT_ONCE_EACH if name else AT_ONCE_UNNAMED
                    if self._open.total() >= AT_ONCE or self._open[name] >= most:
                        connection.close()
                        continue
                    place = ConnectionPlace(self._open, name)
                    address = f"{peer[0]}:{peer[1]}" if peer else f"{through}:0"
                    task = tasks.create_task(serve(connection, address, place), name=f"tunnel {name}")
                    task.add_done_callback(partial(_leave, place))

    async def pass_on(
        self,
        record: TunnelRecord,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        address: str,
        first: bytes = b"",
    ) -> None:
        """Relay a connection to a tunnel's port until both directions have ended.

        Args:
            record: The tunnel.
            reader: The stream to read from the visitor.
            writer: The stream to write to the visitor.
            address: The visitor's address, `HOST:PORT`.
            first: Bytes already read from the visitor.
        """
        async with self._connect(record, address, lambda: reset(writer)) as channel:
            await relay(reader, writer, channel, first=first, idle=self._idle)


def _leave(place: ConnectionPlace, _: asyncio.Task[None]) -> None:
    place.leave()


async def streams(connection: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return a reader and a writer that take over a connection."""
    try:
        if connection.family == socket.AF_UNIX:
            return await asyncio.open_unix_connection(sock=connection, limit=CHUNK)
        return await asyncio.open_connection(sock=connection, limit=CHUNK)
    except BaseException:
        connection.close()
        raise


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset an unfinished connection, so that the visitor doesn't mistake the data for complete."""
    connection = writer.get_extra_info("socket")  # None if the visitor has closed a Unix socket
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    writer.transport.abort()
