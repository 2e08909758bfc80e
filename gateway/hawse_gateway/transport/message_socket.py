"""Exchanges whole messages with a WebSocket client, past the parser of a WebSocket library.

A key and its echo are one frame each. A frame that is a whole message is handled here; every other one (pings, closes,
fragments, mistakes) is passed on to the `FrameParser`, which is the protocol of the transport otherwise
(docs/decisions/0262). No byte is read by both.
"""

import asyncio
import struct
from typing import Final, Protocol, cast

try:
    from websockets.speedups import apply_mask
except ImportError:  # no compiler was there when it was installed
    from websockets.utils import apply_mask

# The first byte of a frame (RFC 6455, 5.2) that is a whole message: FIN and the opcode.
TEXT: Final = 0x81
BINARY: Final = 0x82
FIN: Final = 0x80
MASKED: Final = 0x80  # in the second byte
CONTROL: Final = 0x08  # opcodes of pings, pongs and closes
MASK_SIZE: Final = 4  # bytes
JOINED: Final = 4 << 10  # bytes of a message that are copied behind its header; two buffers cost more to write


class Receiver(Protocol):
    """Takes messages as they arrive. Its methods must not raise."""

    def receive(self, message: str | bytes) -> None: ...

    def lost(self) -> None:
        """No more messages will arrive. May be called more than once."""
        ...

    def resume_writing(self) -> None: ...


class FrameParser(Protocol):
    """The protocol of the transport while no receiver is attached. It also reads the frames that are not messages."""

    @property
    def over(self) -> bool:
        """Whether no more messages may be exchanged."""
        ...

    def take(self, data: bytes) -> None:
        """Read bytes, from the beginning of a frame on if the last ones ended with a frame."""
        ...

    def refuse_text(self) -> None:
        """Fail the connection: a text message is not valid UTF-8."""
        ...

    def attach(self, receiver: Receiver | None) -> None: ...

    def eof_received(self) -> bool | None: ...

    def connection_lost(self, exc: Exception | None) -> None: ...

    def pause_writing(self) -> None: ...

    def resume_writing(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...

    async def drain(self) -> None: ...

    async def close(self, code: int, reason: str) -> None: ...


class MessageSocket:
    """An open WebSocket. The protocol of its transport while a receiver is attached.

    Attributes:
        bytes_in: Bytes of whole messages received.
        bytes_out: Bytes of whole messages sent.
        received: Bytes received, of everything.
        written: Bytes of messages sent, with their headers.
        aligned: Whether the parser has read whole frames only. If not, it has to read all others too.
        full: Whether the transport accepts no more for now. The parser sets it, which always knows.
    """

    def __init__(self, transport: asyncio.Transport, parser: FrameParser, limit: int) -> None:
        """`limit`: bytes that a message may have; the parser refuses larger ones."""
        self.bytes_in = 0
        self.bytes_out = 0
        self.received = 0
        self.written = 0
        self.aligned = True
        self.full = False
        self._transport = transport
        self._parser = parser
        self._limit = limit
        self._receiver: Receiver | None = None
        self._partial = bytearray()  # a frame that is not complete, of at most `limit` bytes and a header
        self._wanted = 0  # bytes of it that have to be there before it is looked at again
        self._in_fragments = False  # a message in fragments is not complete
        self._over = False  # everything that still arrives is for the parser

    # ---- for the owner of the connection

    def attach(self, receiver: Receiver | None) -> None:
        """Pass messages to `receiver` from now on, those that are queued first. None: queue them again."""
        transport, parser = self._transport, self._parser
        self._receiver = receiver
        if receiver is None:
            transport.set_protocol(cast(asyncio.BaseProtocol, parser))
            if self._partial:
                rest, self._partial = bytes(self._partial), bytearray()
                self.aligned = False
                parser.take(rest)
        parser.attach(receiver)
        if receiver is not None and self.aligned and not parser.over:
            transport.set_protocol(cast(asyncio.BaseProtocol, self))

    @property
    def has_room(self) -> bool:
        over = self._over if self.aligned else self._parser.over
        return not (self.full or over or self._transport.is_closing())

    def write(self, message: str | bytes) -> None:
        kind, data = (TEXT, message.encode()) if isinstance(message, str) else (BINARY, message)
        size = len(data)
        self.bytes_out += size
        if size < 126:
            header = bytes((kind, size))
        elif size < 1 << 16:
            header = struct.pack(">BBH", kind, 126, size)
        else:
            header = struct.pack(">BBQ", kind, 127, size)
        self.written += len(header) + size
        if size <= JOINED:
            self._transport.write(header + data)
        else:
            self._transport.writelines((header, data))

    def pause_reading(self) -> None:
        self._parser.pause_reading()

    def resume_reading(self) -> None:
        self._parser.resume_reading()

    async def drain(self) -> None:
        """Wait until it has room. Raises `OSError` when the client has disconnected."""
        await self._parser.drain()

    async def close(self, code: int, reason: str) -> None:
        await self._parser.close(code, reason)

    # ---- for the transport

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        if self._partial:
            self._partial += data
            if len(self._partial) < self._wanted:
                return
            data, self._partial = bytes(self._partial), bytearray()
        at = 0
        while at < len(data) and not self._over:
            end = self._frame_end(data, at)
            if end > len(data):
                self._partial += memoryview(data)[at:]
                self._wanted = end - at
                return
            if end > at:
                self._take(data, at, end)
            at = end
        if at < len(data):
            self._parser.take(data[at:])

    def eof_received(self) -> bool | None:
        return self._parser.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        self._parser.connection_lost(exc)

    def pause_writing(self) -> None:
        self._parser.pause_writing()

    def resume_writing(self) -> None:
        self._parser.resume_writing()

    # ---- frames

    def _frame_end(self, data: bytes, at: int) -> int:
        """Return the index after the frame that begins at `at`, or after its header if that is not complete.

        A frame that is refused because of its header is for the parser at once, with everything behind it.
        """
        start = at + 2
        if start > len(data):
            return start
        size = data[at + 1] & 0x7F
        if size >= 126:
            start += 2 if size == 126 else 8
            if start > len(data):
                return start
            size = int.from_bytes(data[at + 2 : start], "big")
        if size > self._limit or not data[at + 1] & MASKED:
            self._over = True
            return at
        return start + MASK_SIZE + size

    def _take(self, data: bytes, at: int, end: int) -> None:
        """Handle a complete frame: a message is for the receiver, anything else for the parser."""
        kind = data[at]
        if (kind != BINARY and kind != TEXT) or self._in_fragments or self._receiver is None:
            if not kind & CONTROL:
                self._in_fragments = not kind & FIN
            self._parser.take(data[at:end])
            self._over = self._parser.over
            return
        size = data[at + 1] & 0x7F
        mask = at + 2 + (0 if size < 126 else 2 if size == 126 else 8)
        payload = apply_mask(data[mask + MASK_SIZE : end], data[mask : mask + MASK_SIZE])
        self.bytes_in += len(payload)
        if kind == BINARY:
            self._receiver.receive(payload)
            return
        try:
            text = payload.decode()
        except UnicodeDecodeError:
            self._parser.refuse_text()
            self._over = True
        else:
            self._receiver.receive(text)
