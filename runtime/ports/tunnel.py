"""Serves `port.connect` and `port.accept`: a TCP connection and a channel, each direction at the pace of its reader."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import cast

from hawse.api.ports import PortConnectEnd, PortConnectOpened, PortConnectResult
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError, Kind
from runtime.core.tasks import Tasks

CONNECT_TIMEOUT = 10.0  # seconds for a program whose queue of new connections is full
READ_AHEAD = 64 << 10  # bytes that came and wait for credit, above which no more are read (one read may overshoot)
WRITE_BUFFER = 64 << 10  # bytes that wait for the program, above which input is not acknowledged


# Makes the connection with the stream as its protocol, after it has set `address`. Raises `OSError`, `HawseError`.
Dial = Callable[["TunnelStream"], Awaitable[None]]


def dial_first(find: Callable[[], Awaitable[Sequence[str]]]) -> Dial:
    """Return what connects to the first address that answers, of those that `find` returns."""

    async def dial(stream: "TunnelStream") -> None:
        addresses = await find()
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_TIMEOUT):
            for last, address in enumerate(addresses, 1 - len(addresses)):
                stream.address = address
                try:
                    await loop.create_connection(lambda: stream, address, stream.port)
                    return
                except OSError:
                    if last == 0:
                        raise

    return dial


class TunnelStream(asyncio.Protocol):
    """A `Stream`. `address` is the address of the other end."""

    def __init__(
        self,
        call: ServerCall,
        port: int,
        dial: Dial,
        tasks: Tasks,
        on_detach: Callable[["TunnelStream"], object],
    ) -> None:
        self.port = port
        self._call = call
        self._dial = dial
        self._on_detach = on_detach
        self._transport: asyncio.Transport | None = None
        self._detached = False  # the channel is closed
        self._lost = False  # the connection is closed
        self._failure: Exception | None = None  # why the connection was lost; None: it was closed
        self.address = ""
        self._opened_sent = False  # the event `opened`
        self._chunks: deque[memoryview] = deque()  # from the program
        self._held = 0  # bytes in `_chunks`
        self._reading = True
        self._received = 0  # bytes from the program that were sent on
        self._eof = False  # the program sends no more
        self._end_sent = False  # the event `end`
        self._sent = 0  # bytes to the program that were taken
        self._ended = False  # the caller sends no more
        self._early: list[bytes] = []  # input that came before the connection was made; bounded by the input window
        self._writable = True
        self._owed = 0  # bytes taken while the program did not read: they are acknowledged when it does
        tasks.start(self._connect())

    def cut(self, error: HawseError) -> None:
        """End the call with `error`."""
        self._call.error(error)

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        window = connection.window(ch)
        if self._chunks and self._opened_sent:
            part = self._chunks[0][: min(size, window)]
            if part:
                connection.send_data(ch, Kind.OUTPUT, self._received, part)
                self._take(len(part))
            return bool(part)
        if self._lost:
            self._finish()
        elif window > 0 and self._transport is not None and not self._opened_sent:
            self._opened_sent = True
            connection.send_event(ch, "opened", PortConnectOpened(port=self.port, address=self.address))
            return True
        elif window > 0 and self._eof and not self._end_sent:
            self._end_sent = True
            connection.send_event(ch, "end", PortConnectEnd(offset=self._received))
            self._close_if_ended()
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        if offset != self._sent:
            raise HawseError("input_gap", f"input at {offset}", details={"applied": self._sent}, admitted="yes")
        self._sent += len(payload)
        if self._transport is None:
            self._early.append(bytes(payload))
        else:
            self._write(bytes(payload))

    def receive_end(self) -> None:
        self._ended = True
        if self._transport is not None and not self._lost:
            self._transport.write_eof()
            self._close_if_ended()

    def detach(self) -> None:
        self._detached = True
        self._chunks.clear()
        self._early.clear()
        if self._transport is not None and not self._lost:
            self._transport.abort()
        self._on_detach(self)

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's classes are not subclasses of asyncio.Transport
        if self._detached:
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        early, self._early = self._early, []
        for data in early:
            self._write(data)
        if self._ended:
            self._transport.write_eof()
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

    def eof_received(self) -> bool:
        self._eof = True
        self._call.wake()
        return True  # the program may still read

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

    # ---- inside

    async def _connect(self) -> None:
        try:
            await self._dial(self)
        except HawseError as error:
            self._call.error(error)
        except OSError as error:  # TimeoutError is one
            reason = "does not answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            self._call.error(HawseError("unavailable", f"port {self.port}: {reason}", details={"port": self.port}))

    def _take(self, size: int) -> None:
        self._received += size
        self._held -= size
        rest = self._chunks.popleft()[size:]
        if rest:
            self._chunks.appendleft(rest)
        if self._held < READ_AHEAD and not self._reading and not self._lost and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def _write(self, data: bytes) -> None:
        """Drop what the closed connection can no longer take; its result reports how it ended."""
        assert self._transport is not None
        if not self._lost:
            self._transport.write(data)
        if self._writable or self._lost:
            self._call.applied(len(data))
        else:
            self._owed += len(data)

    def _close_if_ended(self) -> None:
        """Close the connection after the end of both directions; `connection_lost` gets the outcome."""
        if self._end_sent and self._ended and self._transport is not None:
            self._transport.close()

    def _finish(self) -> None:
        if self._failure is not None:
            self._call.error(typed(self._failure))
        else:
            self._call.result(PortConnectResult(received=self._received, sent=self._sent))
