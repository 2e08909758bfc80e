"""Reads the server name (SNI) from a TLS client's first message, which is not encrypted. No I/O.

The message is forwarded unchanged. Only the program in the sandbox has the certificate and the key, not the gateway.
For the formats, see RFC 8446, sections 4.1.2 (ClientHello) and 5.1 (records), and RFC 6066, section 3 (server_name).
"""

from typing import Final

HELLO_MAX: Final = 16 << 10  # maximum size of the message in bytes, including record headers; clients send 200 to 2,000
RECORD_HEADER: Final = 5
RECORD_MAX: Final = 1 << 14
RECORDS_MAX: Final = 16  # maximum number of records in the message; clients send 1 or 2
HANDSHAKE: Final = 22  # record type
CLIENT_HELLO: Final = 1  # message type
SERVER_NAME: Final = 0  # extension type
HOST_NAME: Final = 0  # name type
UNRECOGNIZED_NAME: Final = bytes([21, 3, 3, 0, 2, 2, 112])  # a fatal alert (RFC 8446, section 6)


class HelloError(Exception):
    """The bytes are not the start of a TLS connection, or they don't contain a host name."""


class _Reader:
    """Reads the parts of a message in sequence."""

    def __init__(self, data: bytes) -> None:
        self._data = memoryview(data)

    def __bool__(self) -> bool:
        return bool(self._data)

    def take(self, size: int) -> bytes:
        if len(self._data) < size:
            raise HelloError("a part of the message is longer than the message")
        part, self._data = bytes(self._data[:size]), self._data[size:]
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def vector(self, size: int) -> bytes:
        """Read a part that starts with its length in `size` bytes."""
        return self.take(self.number(size))


def record_length(header: bytes) -> int:
    """Return a record's length, read from its header. Raises `HelloError` unless it is a handshake record."""
    if header[0] != HANDSHAKE or header[1] != 3:
        raise HelloError("not TLS")
    length = int.from_bytes(header[3:RECORD_HEADER], "big")
    if not 0 < length <= RECORD_MAX:
        raise HelloError("a record is empty or too long")
    return length


def server_name(data: bytes) -> str | None:
    """Return the host name that a client requests, in lowercase, or None if more bytes are needed.

    Args:
        data: All bytes received from the client so far.

    Raises:
        HelloError: The data is not a ClientHello with a host name, or is larger than HELLO_MAX bytes.
    """
    message = _message(data)
    if message is None:
        if len(data) >= HELLO_MAX:
            raise HelloError(f"the message exceeds {HELLO_MAX} bytes")
        return None
    hello = _Reader(message)
    hello.take(2 + 32)  # version, random
    hello.vector(1)  # session id
    hello.vector(2)  # cipher suites
    hello.vector(1)  # compression methods
    if not hello:
        raise HelloError("the client names no host")
    extensions = _Reader(hello.vector(2))
    names: list[bytes] = []
    while extensions:
        kind, body = extensions.number(2), extensions.vector(2)
        if kind == SERVER_NAME:
            names += _host_names(body)
    if len(names) != 1:
        raise HelloError("the client does not name exactly one host")
    try:
        return names[0].decode("ascii").lower()
    except UnicodeDecodeError:
        raise HelloError("the name is not ASCII") from None


def _message(data: bytes) -> bytes | None:
    """Return the first message's body, which can span several records, or None if more bytes are needed."""
    collected, offset = b"", 0
    while True:
        if len(collected) >= 4:
            if collected[0] != CLIENT_HELLO:
                raise HelloError("the first message is not a ClientHello")
            end = 4 + int.from_bytes(collected[1:4], "big")
            if end > HELLO_MAX:
                raise HelloError(f"the message exceeds {HELLO_MAX} bytes")
            if len(collected) >= end:
                return collected[4:end]
        header = data[offset : offset + RECORD_HEADER]
        if header[:1] not in (b"", bytes([HANDSHAKE])) or header[1:2] not in (b"", b"\x03"):
            raise HelloError("not TLS")
        if len(header) < RECORD_HEADER:
            return None
        length = record_length(header)
        offset += RECORD_HEADER + length
        if len(data) < offset:
            return None
        collected += data[offset - length : offset]


def _host_names(body: bytes) -> list[bytes]:
    found, entries = [], _Reader(_Reader(body).vector(2))
    while entries:
        kind, name = entries.number(1), entries.vector(2)
        if kind == HOST_NAME:
            found.append(name)
    return found
