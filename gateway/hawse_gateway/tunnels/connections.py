"""The TCP connections of tunnels: how many there may be, and their way to the port of the sandbox."""

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

AT_ONCE_EACH: Final = 256  # of one tunnel
AT_ONCE_UNNAMED: Final = 64  # TLS clients that have not said yet which name they want
ACCEPT_PAUSE: Final = 1.0  # s until the next connection is accepted after descriptors have run out
EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
NO_LINGER: Final = struct.pack("ii", 1, 0)  # closing sends RST (socket(7))

# Connects to the port of a tunnel, for an address, `HOST:PORT`; the function is called when the tunnel ends.
Connect = Callable[[TunnelRecord, str, Callable[[], None]], AbstractAsyncContextManager[Channel]]


class Place:
    """The place of one connection in the counts of connections, by tunnel."""

    def __init__(self, counts: Counter[str], name: str) -> None:
        """Take a place of a tunnel; "" for a connection that has not named one."""
        self._counts = counts
        self._name = name
        counts[name] += 1

    def move(self, name: str) -> bool:
        """Take a place of a tunnel instead. Return whether there was one."""
        if self._counts[name] >= AT_ONCE_EACH:
            return False
        self.leave()
        self._name = name
        self._counts[name] += 1
        return True

    def leave(self) -> None:
        """Give the place back."""
        self._counts[self._name] -= 1
        if not self._counts[self._name]:
            del self._counts[self._name]


Visit = Callable[[socket.socket, str, Place], Awaitable[None]]


class TunnelConnections:
    """The connections of all listeners."""

    def __init__(self, connect: Connect, *, idle: float = IDLE) -> None:
        """Create it without connections.

        Args:
            connect: Connects to the port of a tunnel.
            idle: Seconds without a byte until a connection is closed.
        """
        self._connect = connect
        self._idle = idle
        self._open: Counter[str] = Counter()  # by tunnel; "" for those that have not named one

    async def serve(self, record: TunnelRecord, listener: socket.socket) -> None:
        """Connect all that a listener accepts to the port of a tunnel, until it is cancelled. It owns the listener."""

        async def visit(connection: socket.socket, address: str, place: Place) -> None:
            reader, writer = await streams(connection)
            try:
                await self.pass_on(record, reader, writer, address)
            finally:
                reset(writer)

        await self.accept(listener, visit, record.name, through=record.provider)

    async def accept(self, listener: socket.socket, visit: Visit, name: str = "", *, through: str = "") -> None:
        """Accept connections until it is cancelled. Those beyond the limits are closed at once.

        Args:
            listener: Accepts them. It is closed at the end.
            visit: Serves one; it owns the socket.
            name: The tunnel. "": each connection names one.
            through: The address of visitors who come through a Unix socket.
        """
        loop = asyncio.get_running_loop()

        async def serve(connection: socket.socket, address: str, place: Place) -> None:
            try:
                await visit(connection, address, place)
            except* (HawseError, OSError, HelloError) as errors:
                log.info("! connection of tunnel %s: %s", name or "by name", errors.exceptions[0])
            except* Exception:  # a bug must not end the others
                log.exception("! connection of tunnel %s", name or "by name")

        with listener:
            async with asyncio.TaskGroup() as tasks:
                while True:
                    try:
                        connection, peer = await loop.sock_accept(listener)
                    except OSError as error:
                        if error.errno in EXHAUSTED:
                            log.warning("! connections of tunnel %s are not accepted: %s", name or "by name", error)
                            await asyncio.sleep(ACCEPT_PAUSE)
                        continue
                    most = AT_ONCE_EACH if name else AT_ONCE_UNNAMED
                    if self._open.total() >= AT_ONCE or self._open[name] >= most:
                        connection.close()
                        continue
                    place = Place(self._open, name)
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
        """Pass the bytes of one connection to the port of a tunnel and back until both halves have ended.

        Args:
            record: The tunnel.
            reader: What the visitor sends.
            writer: What the visitor gets.
            address: Of the visitor, `HOST:PORT`.
            first: What the visitor has sent already.
        """
        async with self._connect(record, address, lambda: reset(writer)) as channel:
            await relay(reader, writer, channel, first=first, idle=self._idle)


def _leave(place: Place, _: asyncio.Task[None]) -> None:
    place.leave()


async def streams(connection: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return the two halves of a connection, which own it."""
    try:
        if connection.family == socket.AF_UNIX:
            return await asyncio.open_unix_connection(sock=connection, limit=CHUNK)
        return await asyncio.open_connection(sock=connection, limit=CHUNK)
    except BaseException:
        connection.close()
        raise


def reset(writer: asyncio.StreamWriter) -> None:
    """Break a connection that has not ended: the visitor must not take what it got for all that there is."""
    connection = writer.get_extra_info("socket")  # None: it is a Unix socket that was closed
    if connection is not None:
        with suppress(OSError):
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    writer.transport.abort()
