"""Open ports, their connections, and what ends them. Real sockets; the sandbox is a fake."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

import msgspec
import pytest

from hawse.wire import HawseError
from hawse_gateway.sandboxes.records import SANDBOXES
from hawse_gateway.store.base import Store
from hawse_gateway.tunnels import connections, listeners
from hawse_gateway.tunnels.client_hello import RECORDS_MAX, UNRECOGNIZED_NAME, server_name
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.listeners import TunnelListeners
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.tunnels.relay import Channel
from hawse_gateway.tunnels.table import TunnelRecord, TunnelTable
from tests.support.gateway import eventually
from tests.support.stack import free_port
from tests.support.stores import MemoryStore

TIMEOUT = 20.0  # s until a waiting test fails


class Echo:
    """A program that sends back what it gets, and its port first."""

    def __init__(self, port: int) -> None:
        self._chunks: asyncio.Queue[bytes] = asyncio.Queue()
        self._chunks.put_nowait(b"%d:" % port)

    async def read(self) -> bytes:
        return await self._chunks.get()

    async def write(self, *parts: bytes) -> None:
        for part in parts:
            self._chunks.put_nowait(part)

    async def keep_pace(self) -> None:
        """There is no limit."""

    def end(self) -> None:
        self._chunks.put_nowait(b"")


class Served:
    """A table of tunnels and its listeners."""

    def __init__(self, table: TunnelTable, options: TunnelOptions, hello_time: float) -> None:
        self.table = table
        self.options = options
        self.error: HawseError | None = None
        self.addresses: list[str] = []
        self.connections = TunnelConnections(self.connect)
        self.listeners = TunnelListeners(
            table, options, self.connections, preview_host="example.org", hello_time=hello_time
        )

    @asynccontextmanager
    async def connect(self, record: TunnelRecord, address: str, ended: Callable[[], None]) -> AsyncIterator[Channel]:
        if self.error is not None:
            raise self.error
        self.addresses.append(address)
        with self.table.hold(record.name, ended):
            yield Echo(record.port)

    async def add(self, name: str, port: int = 80) -> TunnelRecord:
        now = self.table.clock.now()
        kind = "tcp" if name.startswith("tcp-") else "tls"
        record = TunnelRecord(name=name, sandbox="box", generation="g", port=port, created=now, kind=kind)  # type: ignore[arg-type]
        await self.table.put(record)
        return record


@pytest.fixture
def hello_time() -> float:
    return TIMEOUT


@pytest.fixture
async def served(hello_time: float) -> AsyncIterator[Served]:
    store = MemoryStore()
    store.put(SANDBOXES, "box", msgspec.json.encode({"generation": "g"}))
    first = free_port()
    options = TunnelOptions(ports=range(first, first + 1), tls_port=free_port())
    async with TunnelTable(cast(Store, store)).running() as table, asyncio.TaskGroup() as tasks:
        served = Served(table, options, hello_time)
        running = tasks.create_task(served.listeners.run())
        async with asyncio.timeout(TIMEOUT):
            yield served
        running.cancel()


async def dial(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect as soon as the port is open. Polls: nothing announces that."""
    while True:
        try:
            return await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            await asyncio.sleep(0.01)


async def test_a_tcp_tunnel_has_its_port_until_it_is_removed(served: Served) -> None:
    port = served.options.ports[0]
    record = await served.add(f"tcp-{port}", 5432)
    reader, writer = await dial(port)
    assert await reader.readuntil(b":") == b"5432:"
    writer.write(b"hello")
    assert await reader.readexactly(5) == b"hello"
    assert served.table.connections(record.name) == 1
    assert served.addresses == [f"127.0.0.1:{writer.get_extra_info('sockname')[1]}"]

    await served.table.remove(record)
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    while True:  # the port is closed by another task
        try:
            _, again = await asyncio.open_connection("127.0.0.1", port)
        except ConnectionRefusedError:
            break
        again.close()
        await asyncio.sleep(0.01)


async def test_a_port_in_use_is_refused_until_it_is_free(served: Served) -> None:
    tcp, tls = served.options.ports[0], served.options.tls_port
    with socket.create_server(("127.0.0.1", tcp)):
        await served.add(f"tcp-{tcp}")
        await eventually(lambda: served.listeners.refused(tcp))
        assert not served.listeners.refused(tls or 0)
    served.listeners.open(tcp)
    assert not served.listeners.refused(tcp)


async def test_both_halves_end_by_themselves(served: Served) -> None:
    port = served.options.ports[0]
    await served.add(f"tcp-{port}")
    reader, writer = await dial(port)
    writer.write(b"all")
    writer.write_eof()
    assert await reader.read() == b"80:all"
    writer.close()


async def test_a_port_being_created_is_kept(served: Served) -> None:
    port = served.options.ports[0]
    served.listeners.open(port)
    with pytest.raises(OSError, match="in use"):
        served_elsewhere = TunnelListeners(served.table, served.options, served.connections)
        served_elsewhere.open(port)
    served.listeners.release(port)
    served.listeners.open(port)
    await served.add(f"tcp-{port}")
    reader, writer = await dial(port)
    assert await reader.readuntil(b":") == b"80:"
    writer.close()


async def test_a_refused_visitor_is_disconnected(served: Served) -> None:
    port = served.options.ports[0]
    served.error = HawseError("stale_handle", "the sandbox is not running")
    await served.add(f"tcp-{port}")
    reader, writer = await dial(port)
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()
    served.error = None
    reader, writer = await dial(port)
    assert await reader.readuntil(b":") == b"80:"
    writer.close()


def client_hello(name: str) -> bytes:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    outgoing = ssl.MemoryBIO()
    connection = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    with pytest.raises(ssl.SSLWantReadError):
        connection.do_handshake()
    return outgoing.read()


async def test_a_tls_tunnel_is_found_by_the_name_that_the_client_asks_for(served: Served) -> None:
    await served.add("one", 1)
    await served.add("two", 2)
    assert served.options.tls_port is not None
    for name, expected in (("t-one.example.org", b"1:"), ("T-TWO.example.org", b"2:")):
        reader, writer = await dial(served.options.tls_port)
        hello = client_hello(name)
        for part in (hello[:3], hello[3:50], hello[50:]):
            writer.write(part)
            await writer.drain()
        assert await reader.readexactly(len(expected) + len(hello)) == expected + hello, "unchanged"
        writer.close()


@pytest.mark.parametrize("name", ["t-other.example.org", "one.example.org", "t-one.example.com"])
async def test_other_names_are_refused_with_an_alert(served: Served, name: str) -> None:
    await served.add("one", 1)
    await served.add(f"tcp-{served.options.ports[0]}")
    assert served.options.tls_port is not None
    reader, writer = await dial(served.options.tls_port)
    writer.write(client_hello(name))
    assert await reader.read() == UNRECOGNIZED_NAME
    writer.close()


@pytest.mark.parametrize("hello_time", [0.3])
@pytest.mark.parametrize("data", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03"])
async def test_a_client_that_is_silent_or_does_not_speak_tls_is_disconnected(served: Served, data: bytes) -> None:
    assert served.options.tls_port is not None
    reader, writer = await dial(served.options.tls_port)
    writer.write(data)
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()


async def test_a_hello_in_many_parts_is_parsed_once(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    await served.add("one", 1)
    assert served.options.tls_port is not None
    parsed: list[int] = []

    def counted(data: bytes) -> str | None:
        parsed.append(len(data))
        return server_name(data)

    monkeypatch.setattr(listeners, "server_name", counted)
    hello = client_hello("t-one.example.org")
    reader, writer = await dial(served.options.tls_port)
    for offset in range(len(hello)):
        writer.write(hello[offset : offset + 1])
        await writer.drain()
        await asyncio.sleep(0)
    assert await reader.readexactly(2 + len(hello)) == b"1:" + hello
    assert parsed == [len(hello)]
    writer.close()


async def test_a_hello_in_too_many_records_is_refused(served: Served) -> None:
    await served.add("one", 1)
    assert served.options.tls_port is not None
    message = client_hello("t-one.example.org")[5:]
    records = [b"\x16\x03\x01\x00\x01" + message[at : at + 1] for at in range(RECORDS_MAX)]
    reader, writer = await dial(served.options.tls_port)
    writer.write(b"".join(records))
    with pytest.raises(ConnectionResetError):
        await reader.read()
    writer.close()


async def test_clients_without_a_name_leave_places_to_others(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "AT_ONCE_UNNAMED", 1)
    monkeypatch.setattr(connections, "AT_ONCE", 2)
    port, tls_port = served.options.ports[0], served.options.tls_port
    assert tls_port is not None
    await served.add(f"tcp-{port}")
    _, silent = await dial(tls_port)
    refused, refused_writer = await dial(tls_port)
    assert await refused.read() == b""
    reader, writer = await dial(port)
    assert await reader.readuntil(b":") == b"80:"
    for each in (silent, refused_writer, writer):
        each.close()


async def test_a_tls_client_counts_for_its_tunnel_before_it_is_connected(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "AT_ONCE_UNNAMED", 1)
    monkeypatch.setattr(connections, "AT_ONCE_EACH", 1)
    assert served.options.tls_port is not None
    await served.add("one", 1)
    hello = client_hello("t-one.example.org")
    reader, writer = await dial(served.options.tls_port)
    writer.write(hello)
    assert await reader.readexactly(2 + len(hello)) == b"1:" + hello
    second, second_writer = await dial(served.options.tls_port)
    second_writer.write(hello)
    with pytest.raises(ConnectionResetError):
        await second.read()
    assert len(served.addresses) == 1
    writer.close()
    second_writer.close()
