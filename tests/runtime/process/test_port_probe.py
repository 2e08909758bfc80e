"""Looking at a port until it answers."""

import asyncio
from collections.abc import Callable

from hawse_runtime.process.port_probe import until_open
from tests.support.stack import free_port

Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], object]


def answering(*answers: bytes) -> tuple[Handler, list[bytes]]:
    """Each connection gets the next answer, the last one again and again; and what was asked."""
    asked: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(answers[min(len(asked), len(answers)) - 1])
        writer.close()

    return serve, asked


async def test_a_port_that_opens_later_is_noticed() -> None:
    port = free_port()
    async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(until_open(port, None, (200, 399)))
        await asyncio.sleep(0)
        async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", port):
            assert await waiting is None


async def test_a_server_that_has_the_other_family_only_is_found() -> None:
    server = await asyncio.start_server(lambda _, writer: writer.close(), "::1", 0)
    async with server, asyncio.timeout(20):
        await until_open(server.sockets[0].getsockname()[1], None, (200, 399))


async def test_http_has_to_answer_with_a_status_in_the_range() -> None:
    serve, asked = answering(b"HTTP/1.1 503 Not yet\r\n\r\n", b"", b"SSH-2.0\r\n", b"HTTP/1.0 204\r\n\r\n")
    async with asyncio.timeout(20), await asyncio.start_server(serve, "127.0.0.1", 0) as server:  # type: ignore[arg-type]
        port = server.sockets[0].getsockname()[1]
        assert await until_open(port, "/health?a=b", (200, 299)) == 204
    assert len(asked) == 4
    assert asked[0].startswith(b"GET /health?a=b HTTP/1.1\r\n")


async def test_a_server_that_does_not_answer_or_end_its_line_is_not_waited_for() -> None:
    seen = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal seen
        seen += 1
        if seen == 1:
            await reader.read()
        elif seen == 2:
            writer.write(b"HTTP/1.1 " + b"x" * 100_000)
        else:
            writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
        writer.close()

    async with asyncio.timeout(20), await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await until_open(port, "/", (200, 399), attempt_timeout=0.05) == 200
