"""Exchanges whole messages with a WebSocket client, bypassing a WebSocket library's parser.

Keystrokes and their echoes are single frames. This module handles frames that contain a whole message. Other frames
(pings, closes, fragments, invalid frames) go to the `FrameParser`, the transport's usual protocol
(docs/decisions/0262). Each byte is read by this module or by the `FrameParser`, never by both.
"""

import asyncio
import struct
from typing import Final, Protocol, cast

try:
    from websockets.speedups import apply_mask
except ImportError:  # the C extension was not compiled when hawse was installed
    from websockets.utils import apply_mask

# The first byte of frames that contain a whole message (RFC 6455, section 5.2): FIN and the opcode.
TEXT: Final = 0x81
BINARY: Final = 0x82
FIN: Final = 0x80
MASKED: Final = 0x80  # mask bit, in a frame's second byte
CONTROL: Final = 0x08  # opcodes of pings, pongs and closes
MASK_SIZE: Final = 4  # bytes
JOINED: Final = 4 << 10  # bytes; smaller messages are joined with their header to avoid a second write


class Receiver(Protocol):
    """Receives messages. Its methods must not raise."""

    def receive(self, message: str | bytes) -> None: ...

    def lost(self) -> None:
        """Called after the last message, possibly more than once."""
        ...

    def resume_writing(self) -> None: ...


class FrameParser(Protocol):
    """The transport's protocol while no receiver is attached, and the parser for frames that are not whole messages."""

    @property
    def over(self) -> bool:
        """Whether the connection is closed or closing, so that no further messages can be exchanged."""
        ...

    def take(self, data: bytes) -> None:
        """Parse bytes. They don't have to start or end at a frame boundary."""
        ...

    def refuse_text(self) -> None:
        """Fail the connection because a text message was not valid UTF-8."""
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
    """An open WebSocket, which is the transport's protocol while a receiver is attached.

    Attributes:
        bytes_in: The number of payload bytes in whole messages received.
        bytes_out: The number of payload bytes in whole messages sent.
        received: The total number of bytes received.
        written: The number of bytes in messages sent, including headers.
        aligned: Whether the parser is at a frame boundary. If not, the parser has to read all subsequent frames.
        full: Whether the transport's buffer is full. Set by the parser.
    """

    def __init__(self, transport: asyncio.Transport, parser: FrameParser, limit: int) -> None:
        """Create the socket. The parser rejects messages larger than `limit` bytes."""
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
        self._partial = bytearray()  # an incomplete frame: a header followed by up to `limit` bytes
        self._wanted = 0  # parsing continues once the incomplete frame has reached this size
        self._in_fragments = False  # whether a fragmented message is still incomplete
        self._over = False  # whether all further bytes go to the parser

    # ---- called by the connection's owner

    def attach(self, receiver: Receiver | None) -> None:
        """Pass queued and future messages to `receiver`. If None, queue future messages."""
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
        """Wait until a message can be written. Raises `OSError` if the client disconnects."""
        await self._parser.drain()

    async def close(self, code: int, reason: str) -> None:
        await self._parser.close(code, reason)

    # ---- called by the transport

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
        """Return the end of the frame that starts at `at`, or the end of its header if the header is incomplete.

        If the parser would reject the frame, return `at`. All data from there on is then passed to the parser, even if
        the frame is incomplete.
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
        """Pass a complete frame to the receiver if it is a message, or else to the parser."""
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
