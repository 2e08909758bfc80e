"""The ports of the gateway that TCP tunnels have: one for each tunnel of the kind `tcp`, one for all of `tls`.

Each connection becomes a connection to the port of the sandbox. With several gateways on one store, each listens.
"""

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

from gateway.transport.listener import listen
from gateway.tunnels.client_hello import (
    RECORD_HEADER,
    RECORDS_MAX,
    UNRECOGNIZED_NAME,
    HelloError,
    record_length,
    server_name,
)
from gateway.tunnels.options import AT_ONCE, TunnelOptions
from gateway.tunnels.relay import CHUNK, IDLE, Channel, relay
from gateway.tunnels.table import TunnelRecord, TunnelTable
from hawse.wire import HawseError

log = logging.getLogger(__name__)

AT_ONCE_EACH: Final = 256  # of one tunnel
AT_ONCE_UNNAMED: Final = 64  # TLS clients that have not said yet which name they want
HELLO_TIME: Final = 10.0  # s for a client to say which name it wants
RETRY: Final = 10.0  # s until a port that could not be opened is tried again
ACCEPT_PAUSE: Final = 1.0  # s until the next connection is accepted after descriptors have run out
EXHAUSTED: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
NO_LINGER: Final = struct.pack("ii", 1, 0)  # closing sends RST (socket(7))
MARK: Final = "t-"  # begins the label of a host name

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


class TunnelListeners:
    """The listeners. `run` serves them."""

    def __init__(
        self,
        table: TunnelTable,
        options: TunnelOptions,
        connect: Connect,
        *,
        preview_host: str | None = None,
        idle: float = IDLE,
        hello_time: float = HELLO_TIME,
    ) -> None:
        """Create it with nothing open.

        Args:
            table: The tunnels.
            options: Which ports they may have.
            connect: Connects to the port of a tunnel.
            preview_host: The name below which tunnels of the kind `tls` have their names.
            idle: Seconds without a byte until a connection is closed.
            hello_time: Seconds for a TLS client to say which name it wants.
        """
        self._table = table
        self._options = options
        self._connect = connect
        self._suffix = None if preview_host is None else f".{preview_host.lower()}"
        self._idle = idle
        self._hello_time = hello_time
        self._opened: dict[int, socket.socket] = {}  # ports of tunnels that are being created
        self._serving: dict[str, tuple[TunnelRecord, asyncio.Task[None]]] = {}
        self._open: Counter[str] = Counter()  # connections, by tunnel; "" for those that have not named one
        self._wake = asyncio.Event()

    # ---- ports

    def open(self, port: int) -> None:
        """Open a port for a tunnel that is about to be created. Raises `OSError`."""
        if port not in self._opened:
            self._opened[port] = listen(self._options.address, port)

    def release(self, port: int) -> None:
        """Close a port whose tunnel was not created."""
        if (listener := self._opened.pop(port, None)) is not None:
            listener.close()

    async def run(self) -> None:
        """Serve all TCP tunnels until it is cancelled."""
        stop = self._table.listen(self._wake.set)
        try:
            async with asyncio.TaskGroup() as tasks:
                if self._options.tls_port is not None:
                    tasks.create_task(self._serve_tls(self._options.tls_port), name="tunnels by name")
                while True:
                    self._wake.clear()
                    missing = await self._reconcile(tasks)
                    with suppress(TimeoutError):
                        async with asyncio.timeout(RETRY if missing else None):
                            await self._wake.wait()
        finally:
            stop()
            for port in list(self._opened):
                self.release(port)

    async def _reconcile(self, tasks: asyncio.TaskGroup) -> bool:
        """Listen for the tunnels that there are, and for no others. Return whether a port could not be opened."""
        wanted = {record.name: record for record in self._table.tcp() if record.public_port in self._options.ports}
        for name, (record, task) in list(self._serving.items()):
            if name not in wanted or not wanted[name].leads_where(record) or task.done():
                del self._serving[name]
                task.cancel()
                await asyncio.wait([task])  # its port is closed then
        missing = False
        for name, record in wanted.items():
            port = record.public_port
            if name in self._serving or port is None:
                continue
            try:
                self.open(port)
            except OSError as error:
                log.warning("! port %d of a tunnel cannot be opened: %s", port, error)
                missing = True
                continue
            serving = self._serve(record, self._opened.pop(port))
            self._serving[name] = (record, tasks.create_task(serving, name=f"tunnel {name}"))
        return missing

    async def _serve(self, record: TunnelRecord, listener: socket.socket) -> None:
        async def visit(connection: socket.socket, address: str, place: Place) -> None:
            reader, writer = await streams(connection)
            try:
                await self._pass(record, reader, writer, address)
            finally:
                reset(writer)

        await self._accept(listener, record.name, visit)

    async def _serve_tls(self, port: int) -> None:
        async def visit(connection: socket.socket, address: str, place: Place) -> None:
            reader, writer = await streams(connection)
            try:
                name, first = await self._hello(reader)
                record = self._find(name)
                if record is None:
                    writer.write(UNRECOGNIZED_NAME)
                    await writer.drain()
                    writer.close()
                    await writer.wait_closed()
                elif place.move(record.name):
                    await self._pass(record, reader, writer, address, first)
            finally:
                reset(writer)

        while True:
            try:
                listener = listen(self._options.tls_address, port)
                break
            except OSError as error:
                log.warning("! port %d of tunnels by name cannot be opened: %s", port, error)
                await asyncio.sleep(RETRY)
        await self._accept(listener, "", visit)

    # ---- connections

    async def _accept(
        self, listener: socket.socket, name: str, visit: Callable[[socket.socket, str, Place], Awaitable[None]]
    ) -> None:
        """Accept connections until it is cancelled. Those beyond the limits are closed at once."""
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
                    task = tasks.create_task(serve(connection, f"{peer[0]}:{peer[1]}", place), name=f"tunnel {name}")
                    task.add_done_callback(partial(_leave, place))

    async def _pass(
        self,
        record: TunnelRecord,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        address: str,
        first: bytes = b"",
    ) -> None:
        async with self._connect(record, address, lambda: reset(writer)) as channel:
            await relay(reader, writer, channel, first=first, idle=self._idle)

    async def _hello(self, reader: asyncio.StreamReader) -> tuple[str, bytes]:
        """Return the name that a TLS client asks for, and all that it has sent. Raises `HelloError`, `TimeoutError`."""
        data = b""
        async with asyncio.timeout(self._hello_time):
            try:
                for _ in range(RECORDS_MAX):  # the message is parsed once for each whole record
                    header = await reader.readexactly(RECORD_HEADER)
                    data += header + await reader.readexactly(record_length(header))
                    if (name := server_name(data)) is not None:
                        return name, data
            except asyncio.IncompleteReadError:
                raise HelloError("the client has closed its connection") from None
        raise HelloError(f"the message has more than {RECORDS_MAX} records")

    def _find(self, host: str) -> TunnelRecord | None:
        label = host.removesuffix(self._suffix or "")
        if label == host or not label.startswith(MARK):
            return None
        record = self._table.find(label.removeprefix(MARK))
        return record if record is not None and record.kind == "tls" else None


def _leave(place: Place, _: asyncio.Task[None]) -> None:
    place.leave()


async def streams(connection: socket.socket) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Return the two halves of a connection, which own it."""
    try:
        return await asyncio.open_connection(sock=connection, limit=CHUNK)
    except BaseException:
        connection.close()
        raise


def reset(writer: asyncio.StreamWriter) -> None:
    """Break a connection that has not ended: the visitor must not take what it got for all that there is."""
    with suppress(OSError):
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, NO_LINGER)
    writer.transport.abort()
