"""Streams of bytes in both directions, without a socket."""

import pytest

from hawse.api.ports import PortConnect
from hawse.client import TruncatedError
from hawse.client.base.options import Options
from hawse.client.calls.byte_stream import ByteStream
from hawse.client.calls.call_table import CallTable
from hawse.client.ports import PortConnectCall
from hawse.wire import Kind, RemoteProtocolError
from tests.support.client import MemoryConnection


def prepare() -> tuple[MemoryConnection, PortConnectCall, ByteStream[PortConnectCall]]:
    calls = CallTable(Options())
    connection = MemoryConnection(calls)
    call = PortConnectCall(PortConnect(port=80), sandbox="local", window=100)
    calls.submit(call)
    connection.pump()
    connection.event("opened", {"port": 80, "address": "127.0.0.1"})
    return connection, call, ByteStream(calls, call)


async def test_bytes_are_read_in_order_and_none_at_the_end() -> None:
    connection, _, stream = prepare()
    connection.data(Kind.OUTPUT, 0, b"one")
    assert await stream.read() == b"one"
    connection.data(Kind.OUTPUT, 3, b"two")
    connection.event("end", {"offset": 6})
    assert await stream.read() == b"two"
    assert await stream.read() == b""


async def test_bytes_that_were_discarded_are_an_error_that_names_the_other_end() -> None:
    connection, call, stream = prepare()
    with call.receive_buffer.without_readers():
        connection.data(Kind.OUTPUT, 0, b"x" * 80)
    with pytest.raises(TruncatedError, match="80 bytes of the port"):
        await stream.read()


async def test_bytes_of_another_kind_are_a_protocol_error() -> None:
    connection, _, _ = prepare()
    with pytest.raises(RemoteProtocolError, match="STDERR from the port"):
        connection.data(Kind.STDERR, 0, b"x")
