"""The writing half of a channel: bytes of a terminal's keyboard, a command's stdin, an upload.

`write` waits when the window of unconfirmed bytes is full, which is the backpressure. The line pulls
(`hawse.wire.Source`); what was not confirmed when a line is lost is sent again on the next one.
"""

import asyncio
import secrets
from collections.abc import Callable

from hawse.client.base.errors import fresh
from hawse.client.calls.unacknowledged_input import InputBuffer
from hawse.wire import Connection, HawseError, Kind

BytesLike = bytes | bytearray | memoryview


class InputStream:
    """One input stream, over as many channels as it takes. Implements `hawse.wire.Source`."""

    def __init__(self, limit: int, wake: Callable[[], None]) -> None:
        self.id = secrets.token_hex(8)  # the `input` parameter: names this stream on the server
        self.buffer = InputBuffer(limit)
        self._wake = wake  # tells the line that there is something to pull
        self._tried = False  # a channel was opened before, so the server may know this stream
        self._held = False  # what to send next is not known before `opened`
        self._end_sent = False  # on the present channel
        self._progress = asyncio.Event()
        self._lock = asyncio.Lock()
        self._closed: HawseError | None = None

    # ---- the channel's side

    def opening(self) -> None:
        """A channel is being opened. A new stream may send before `opened` arrives: its offset is 0."""
        self._held, self._tried, self._end_sent = self._tried, True, False

    def opened(self, applied: int) -> None:
        """The server has applied everything below `applied`. Raises `HawseError` if it forgot the stream."""
        if self._held:
            self._held = False
            self.buffer.reattach(applied)
        else:
            self.buffer.confirmed(applied)
        self._progress.set()
        self._wake()

    def credited(self, size: int) -> None:
        self.buffer.credited(size)
        self._progress.set()

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._held:
            return False
        size = min(size, connection.window(ch), self.buffer.unsent)
        if size:
            offset, payload = self.buffer.take(size)
            connection.send_data(ch, Kind.INPUT, offset, payload)
        if self.buffer.unsent:
            return connection.window(ch) > 0
        if self.buffer.ended and not self._end_sent:
            self._end_sent = True
            connection.end(ch)
        return False

    def finish(self, error: HawseError | None) -> None:
        """The channel is closed for good: whoever writes from now on, or waits to, is told so."""
        self._closed = self._closed or error or HawseError("exited", "nobody reads this input any more")
        self._progress.set()

    # ---- the writer's side

    async def write(self, data: BytesLike) -> None:
        """Take `data`; return when the last byte is kept for sending. Writes of several tasks do not mix.

        Raises the channel's error, `exited` if what reads is gone. If cancelled, a beginning may have been taken.
        """
        view = memoryview(data).cast("B")
        async with self._lock:
            while True:
                if self._closed:
                    raise fresh(self._closed)
                if self.buffer.ended:
                    raise HawseError("exited", "the input was ended")
                view = view[self.buffer.append(view) :]
                self._wake()
                if not view:
                    return
                await self._wait()

    async def flush(self) -> None:
        """Wait until the server has applied everything written so far. Raises the channel's error."""
        goal = self.buffer.end
        while self.buffer.applied < goal:
            if self._closed:
                raise fresh(self._closed)
            await self._wait()

    async def end(self) -> None:
        """No more bytes: the reader sees EOF after what was written. Again, or after the end, it does nothing."""
        async with self._lock:
            self.buffer.ended = True
            self._wake()

    async def _wait(self) -> None:
        self._progress.clear()
        await self._progress.wait()
