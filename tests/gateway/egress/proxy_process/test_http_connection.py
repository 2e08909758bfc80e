"""One end of an HTTP/1.1 connection."""

import asyncio
from collections.abc import AsyncIterator

import h11
import pytest

from hawse_gateway.egress.proxy_process.http_connection import ClosedError, HttpConnection
from hawse_gateway.egress.refusals import RefusedError

Pair = tuple[HttpConnection, asyncio.StreamReader, asyncio.StreamWriter]


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    """A connection from a program, and the streams of the program."""
    accepted: asyncio.Future[HttpConnection] = asyncio.get_running_loop().create_future()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        accepted.set_result(HttpConnection(h11.SERVER, reader, writer))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    connection = await accepted
    yield connection, reader, writer
    for each in (writer, connection.writer):
        each.transport.abort()
    server.close()


async def test_data_that_is_not_a_request_is_refused(pair: Pair) -> None:
    connection, _, writer = pair
    writer.write(b"\x16\x03\x01 nonsense\r\n\r\n")
    with pytest.raises(RefusedError, match="not an HTTP/1"):
        await connection.request()


async def test_the_end_of_a_connection_is_not_a_request(pair: Pair) -> None:
    connection, _, writer = pair
    writer.close()
    with pytest.raises(ClosedError):
        await connection.request()


async def test_a_refusal_is_an_answer_and_the_last_one(pair: Pair) -> None:
    connection, reader, writer = pair
    writer.write(b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
    await connection.request()
    writer.write_eof()
    await connection.refuse(403, "egress_denied", "rule", "no")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 403 ")
    assert not connection.reusable()
