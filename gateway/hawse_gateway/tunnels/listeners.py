"""The gateway's listening ports for tunnels: one for each `tcp` tunnel, and one shared by all `tls` tunnels.

Each accepted connection is forwarded to the port in the sandbox. If several gateways share a store, all of them listen.
"""

import asyncio
import logging
import socket
from contextlib import suppress
from typing import Final

from hawse_gateway.transport.listener import listen
from hawse_gateway.tunnels.client_hello import (
    RECORD_HEADER,
    RECORDS_MAX,
    UNRECOGNIZED_NAME,
    HelloError,
    record_length,
    server_name,
)
from hawse_gateway.tunnels.connections import ConnectionPlace, TunnelConnections, reset, streams
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.tunnels.table import MARK, TunnelRecord, TunnelTable

log = logging.getLogger(__name__)

HELLO_TIME: Final = 10.0  # seconds to wait for a client to send the server name
RETRY: Final = 10.0  # seconds to wait before retrying to open a port


class TunnelListeners:
    """A gateway's listening ports. `run` serves their connections."""

    def __init__(
        self,
        table: TunnelTable,
        options: TunnelOptions,
        connections: TunnelConnections,
        *,
        preview_host: str | None = None,
        hello_time: float = HELLO_TIME,
    ) -> None:
        """Create the listeners without opening ports.

        Args:
            table: The tunnels.
            options: The ports that tunnels can use.
            connections: Serves the accepted connections.
            preview_host: The parent domain for the names of `tls` tunnels.
            hello_time: Seconds to wait for a TLS client to send the server name.
        """
        self._table = table
        self._options = options
        self._connections = connections
        self._suffix = None if preview_host is None else f".{preview_host.lower()}"
        self._hello_time = hello_time
        self._opened: dict[int, socket.socket] = {}  # sockets for tunnels that are being created, keyed by port
        self._serving: dict[str, tuple[TunnelRecord, asyncio.Task[None]]] = {}
        self._refused: set[int] = set()  # ports that could not be opened
        self._wake = asyncio.Event()

    # ---- ports

    def open(self, port: int) -> None:
        """Open a port for a tunnel that is about to be created. Raises `OSError`."""
        if port not in self._opened:
            self._opened[port] = listen(self._options.address, port)
            self._refused.discard(port)

    def release(self, port: int) -> None:
        """Close a port if its tunnel was not created after all."""
        if (listener := self._opened.pop(port, None)) is not None:
            listener.close()

    def refused(self, port: int) -> bool:
        """Return whether a tunnel's port could not be opened."""
        return port in self._refused

    async def run(self) -> None:
        """Serve all TCP tunnels until cancelled."""
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
        """Open and close ports to match the existing tunnels. Return whether any port could not be opened."""
        wanted = {record.name: record for record in self._table.tcp() if record.public_port in self._options.ports}
        for name, (record, task) in list(self._serving.items()):
            if name not in wanted or not wanted[name].leads_where(record) or task.done():
                del self._serving[name]
                task.cancel()
                await asyncio.wait([task])  # waits until the port is closed
        missing = False
        for name, record in wanted.items():
            port = record.public_port
            if name in self._serving or port is None:
                continue
            try:
                self.open(port)
            except OSError as error:
                if port not in self._refused:
                    log.warning("! cannot open port %d of a tunnel: %s", port, error)
                self._refused.add(port)
                missing = True
                continue
            serving = self._connections.serve(record, self._opened.pop(port))
            self._serving[name] = (record, tasks.create_task(serving, name=f"tunnel {name}"))
        return missing

    async def _serve_tls(self, port: int) -> None:
        async def handle(connection: socket.socket, address: str, place: ConnectionPlace) -> None:
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
                    await self._connections.pass_on(record, reader, writer, address, first)
            finally:
                reset(writer)

        while True:
            try:
                listener = listen(self._options.tls_address, port)
                break
            except OSError as error:
                if port not in self._refused:
                    log.warning("! cannot open port %d of tunnels by name: %s", port, error)
                self._refused.add(port)
                await asyncio.sleep(RETRY)
        self._refused.discard(port)
        await self._connections.accept(listener, handle)

    async def _hello(self, reader: asyncio.StreamReader) -> tuple[str, bytes]:
        """Return the server name sent by a TLS client, and all bytes read. Raises `HelloError`, `TimeoutError`."""
        data = b""
        async with asyncio.timeout(self._hello_time):
            try:
                for _ in range(RECORDS_MAX):  # parses the message only when a record is complete
                    header = await reader.readexactly(RECORD_HEADER)
                    data += header + await reader.readexactly(record_length(header))
                    if (name := server_name(data)) is not None:
                        return name, data
            except asyncio.IncompleteReadError:
                raise HelloError("the client has closed its connection") from None
        raise HelloError(f"the message spans more than {RECORDS_MAX} records")

    def _find(self, host: str) -> TunnelRecord | None:
        label = host.removesuffix(self._suffix or "")
        if label == host or not label.startswith(MARK):
            return None
        record = self._table.find(label.removeprefix(MARK))
        return record if record is not None and record.kind == "tls" else None
