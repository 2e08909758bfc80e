"""Handles WebSockets: checks the handshake (RFC 6455, section 4), and then relays bytes."""

import asyncio
import base64
import binascii
import hashlib
from collections.abc import Callable, Coroutine
from typing import Final, Protocol

from hawse_gateway.egress.refusals import Counters
from hawse_gateway.egress.secrets import Headers

WEBSOCKET: Final = "WEBSOCKET"  # the name that rules use as the method of a handshake
UPGRADE: Final[Headers] = [(b"upgrade", b"websocket"), (b"connection", b"Upgrade")]
GUID: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
KEY_BYTES: Final = 16
CHUNK: Final = 64 << 10  # bytes per read
IDLE_TIMEOUT: Final = 3600.0  # maximum seconds without data in either direction
WRITE_TIMEOUT: Final = 300.0  # seconds to wait for one side to read data from the other
CLOSE_TIMEOUT: Final = 5.0  # seconds to wait for a server to read the last bytes


class Streams(Protocol):
    """The streams for one side of a relayed WebSocket."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def trailing(self) -> bytes: ...


def handshake_key(fields: Headers, method: str) -> bytes:
    """Check a handshake, and return its key.

    Args:
        fields: The request's headers, with names in lower case.
        method: The request's method.

    Raises:
        ValueError: The handshake is invalid.
    """
    if method != "GET":
        raise ValueError("the method must be GET")
    if any(name in (b"content-length", b"transfer-encoding") for name, _ in fields):
        raise ValueError("the request must not have content")
    if _one(fields, b"upgrade").lower() != b"websocket" or b"upgrade" not in _options(fields):
        raise ValueError("the request needs `Upgrade: websocket` and `Connection: Upgrade`")
    if _one(fields, b"sec-websocket-version") != b"13":
        raise ValueError("the version must be 13")
    key = _one(fields, b"sec-websocket-key")
    try:
        valid = len(base64.b64decode(key, validate=True)) == KEY_BYTES
    except binascii.Error:
        valid = False
    if not valid:
        raise ValueError("the key is not 16 bytes in base64")
    return key


def accepts(fields: Headers, key: bytes) -> bool:
    """Return whether a 101 response accepts a WebSocket handshake.

    Args:
        fields: The response's headers, with names in lower case.
        key: The handshake's key.
    """
    expected = base64.b64encode(hashlib.sha1(key + GUID, usedforsecurity=False).digest())
    try:
        return _one(fields, b"upgrade").lower() == b"websocket" and _one(fields, b"sec-websocket-accept") == expected
    except ValueError:
        return False


async def pass_on(client: Streams, server: Streams, transform: Callable[[bytes], bytes], counters: Counters) -> None:
    """Relay bytes until one side closes. Raises `OSError` if a connection is lost.

    Args:
        client: The connection with the program.
        server: The connection with the server.
        transform: Converts bytes from the server to bytes for the program. A `ValueError` ends the connection.
        counters: Counts the bytes relayed.
    """
    activity = _Activity()
    async with asyncio.TaskGroup() as tasks:
        both = [
            tasks.create_task(_end_of(_to_server(client, server, counters, activity))),
            tasks.create_task(_end_of(_to_client(client, server, transform, counters, activity))),
        ]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        for task in both:
            task.cancel()
    server.writer.close()  # closes the connection after sending pending data
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT):
            await server.writer.wait_closed()
    except OSError:
        pass


class _Activity:
    """The time when data was last sent in either direction."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.note()

    def note(self) -> None:
        self.last = self._loop.time()

    async def read(self, reader: asyncio.StreamReader) -> bytes:
        """Return the next bytes. Raises `TimeoutError` if neither side has sent data."""
        while True:
            left = self.last + IDLE_TIMEOUT - self._loop.time()
            try:
                async with asyncio.timeout(left):
                    data = await reader.read(CHUNK)
            except TimeoutError:
                if self.last + IDLE_TIMEOUT <= self._loop.time():
                    raise
                continue
            self.note()
            return data


async def _end_of(work: Coroutine[None, None, None]) -> None:
    """Wait until one direction has ended or the connection is lost."""
    try:
        await work
    except OSError:  # includes TimeoutError
        pass


async def _to_server(client: Streams, server: Streams, counters: Counters, activity: _Activity) -> None:
    data = client.trailing or await activity.read(client.reader)
    while data:
        counters.sent += len(data)
        await _write(server.writer, data)
        data = await activity.read(client.reader)


async def _to_client(
    client: Streams, server: Streams, transform: Callable[[bytes], bytes], counters: Counters, activity: _Activity
) -> None:
    data = server.trailing or await activity.read(server.reader)
    while data:
        counters.received += len(data)
        try:
            passed = transform(data)
        except ValueError:
            return
        await _write(client.writer, passed)
        data = await activity.read(server.reader)


async def _write(writer: asyncio.StreamWriter, data: bytes) -> None:
    """Write bytes, and wait for the buffer to drain. Raises `OSError`, including `TimeoutError`."""
    if data:
        writer.write(data)
        async with asyncio.timeout(WRITE_TIMEOUT):
            await writer.drain()


def _one(fields: Headers, name: bytes) -> bytes:
    """Return the value of a header that must be present exactly once. Raises `ValueError`."""
    found = [value.strip() for each, value in fields if each == name]
    if len(found) != 1:
        raise ValueError(f"the request needs exactly one {name.decode()} header")
    return found[0]


def _options(fields: Headers) -> set[bytes]:
    return {option.strip().lower() for name, value in fields if name == b"connection" for option in value.split(b",")}
