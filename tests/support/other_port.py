"""A hostile program on another port of the gateway's host: records browsers' requests, and sets cookies."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from tests.support.stack import free_port

HEAD_MAX: Final = 1 << 20  # bytes of the head of a request


class OtherPort:
    """The program.

    Attributes:
        port: Its port.
        cookies: The received `Cookie` headers.
        answers: The `Set-Cookie` values of its next answers.
        page: The page that it serves.
    """

    def __init__(self) -> None:
        self.port = free_port()
        self.cookies: list[str] = []
        self.answers: list[str] = []
        self.page = "<!doctype html><title>hostile</title>"

    @asynccontextmanager
    async def running(self) -> AsyncIterator["OtherPort"]:
        """Listen on the loopback interface."""
        server = await asyncio.start_server(self._serve, "127.0.0.1", self.port, limit=HEAD_MAX)
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            for line in head.split("\r\n"):
                name, _, value = line.partition(":")
                if name.lower() == "cookie":
                    self.cookies.append(value.strip())
            lines = [f"Set-Cookie: {value}\r\n" for value in self.answers]
            lines += [f"Content-Length: {len(self.page)}\r\n", "Content-Type: text/html\r\n", "Connection: close\r\n"]
            writer.write(f"HTTP/1.1 200 OK\r\n{''.join(lines)}\r\n{self.page}".encode())
            await writer.drain()
        except (asyncio.IncompleteReadError, OSError):
            pass  # the browser has closed a preconnected socket
        finally:
            writer.close()
