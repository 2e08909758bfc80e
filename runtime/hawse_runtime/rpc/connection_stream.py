"""A stream that forwards a connection to a program. In each direction, the reader sets the pace."""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from typing import Any, Final, cast

from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError, Kind

READ_AHEAD: Final = 64 << 10  # reading pauses once this many bytes are waiting for credit (a single read may exceed it)
WRITE_BUFFER: Final = 64 << 10  # input is not acknowledged while more than this many bytes are waiting for the program


class ConnectionStream(asyncio.Protocol, ABC):
    """A `Stream` that is also the connection's protocol. Subclasses must start `connect` once."""

    def __init__(self, call: ServerCall) -> None:
        self._call = call
        self._transport: asyncio.Transport | None = None
        self._detached = False  # whether the channel is closed
        self._lost = False  # whether the connection is closed
        self._failure: Exception | None = None  # the error that closed the connection; None if it was closed normally
        self._opened_sent = False  # whether the `opened` event was sent
        self._chunks: deque[memoryview] = deque()  # data received from the program
        self._held = 0  # total bytes in `_chunks`
        self._reading = True
        self._received = 0  # number of bytes from the program forwarded to the caller
        self._sent = 0  # number of bytes accepted from the caller
        self._ended = False  # whether the caller has ended its input
        self._early: list[bytes] = []  # input received before the connection opened; limited by the input window
        self._writable = True
        self._owed = 0  # number of bytes accepted while the program was not reading, to be acknowledged once it reads

    async def connect(self) -> None:
        """Open the connection, or end the call with an error if that fails."""
        try:
            await self._dial()
        except HawseError as error:
            self._call.error(error)
        except OSError as error:  # TimeoutError is a subclass of OSError
            reason = "does not answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            self._call.error(self._connect_error(reason))

    # ---- implemented by subclasses

    @abstractmethod
    async def _dial(self) -> None:
        """Open the connection, with this object as its protocol. Raises `OSError` or `HawseError`."""

    @abstractmethod
    def _connect_error(self, reason: str) -> HawseError:
        """Return the error to end the call with when `_dial` raises `OSError`."""

    @abstractmethod
    def _opened(self) -> Any:
        """Return the value for the first event, `opened`. Raises `HawseError` to end the call."""

    @abstractmethod
    def _send_event(self, connection: Connection, ch: int) -> bool:
        """Send a pending event, if any. Return whether one was sent. Called after `opened`, when there is credit."""

    @abstractmethod
    def _end_input(self, transport: asyncio.Transport) -> None:
        """Handle the end of the caller's input by closing that direction of the connection, or both directions."""

    @abstractmethod
    def _result(self) -> Any:
        """Return the result. Called once the connection is closed and all bytes have been sent. Raises `HawseError`."""

    def _allowed(self, data: bytes | memoryview) -> bytes:
        """Return the part of the input that the program may receive. Raises `HawseError` to end the call."""
        return bytes(data)

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        window = connection.window(ch)
        if self._transport is not None and not self._opened_sent:
            return window > 0 and self._open(connection, ch)
        if self._opened_sent and window > 0 and self._send_event(connection, ch):
            return True
        if self._chunks:
            part = self._chunks[0][: min(size, window)]
            if part:
                connection.send_data(ch, Kind.OUTPUT, self._received, part)
                self._take(len(part))
            return bool(part)
        if self._lost:
            self._finish()
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        if offset != self._sent:
            raise HawseError(
                "input_gap",
                f"expected input at offset {self._sent}",
                details={"applied": self._sent},
                admitted="yes",
            )
        self._sent += len(payload)
        if self._transport is None:
            self._early.append(bytes(payload))
        else:
            self._write(payload)

    def receive_end(self) -> None:
        self._ended = True
        if self._transport is not None and not self._lost:
            self._end_input(self._transport)

    def detach(self) -> None:
        self._detached = True
        self._chunks.clear()
        self._early.clear()
        if self._transport is not None and not self._lost:
            self._transport.abort()

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's transports don't subclass asyncio.Transport
        if self._detached:
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        early, self._early = self._early, []
        try:
            for data in early:
                self._write(data)
        except HawseError as error:
            self._call.error(error)
            return
        if self._ended:
            self._end_input(self._transport)
        self._call.wake()

    def data_received(self, data: bytes) -> None:
        if self._detached:
            return
        self._chunks.append(memoryview(data))
        self._held += len(data)
        if self._held >= READ_AHEAD and self._reading and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()
        self._call.wake()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        owed, self._owed = self._owed, 0
        self._call.applied(owed)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._failure = exc
        if not self._detached:
            self._call.wake()

    # ---- internals

    def _open(self, connection: Connection, ch: int) -> bool:
        try:
            value = self._opened()
        except HawseError as error:
            self._call.error(error)
            return False
        self._opened_sent = True
        connection.send_event(ch, "opened", value)
        return True

    def _take(self, size: int) -> None:
        self._received += size
        self._held -= size
        rest = self._chunks.popleft()[size:]
        if rest:
            self._chunks.appendleft(rest)
        if self._held < READ_AHEAD and not self._reading and not self._lost and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def _write(self, data: bytes | memoryview) -> None:
        """Forward the allowed input. Input is dropped once the connection has ended; the result reports the end."""
        assert self._transport is not None
        allowed = self._allowed(data)
        if allowed and not self._lost:
            self._transport.write(allowed)
        if self._writable or self._lost:
            self._call.applied(len(data))
        else:
            self._owed += len(data)

    def _finish(self) -> None:
        try:
            self._call.result(self._result())
        except HawseError as error:
            self._call.error(error)

    def _raise_failure(self) -> None:
        """Raise a `HawseError` unless the connection was closed normally."""
        if self._failure is not None:
            raise typed(self._failure)
