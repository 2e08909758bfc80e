"""The bytes that a call sends: a terminal's keyboard input, a command's stdin, an upload.

For backpressure, `write` waits while the window of unconfirmed bytes is full. The connection's writer pulls bytes
(`hawse.wire.Source`). If the connection is lost, unconfirmed bytes are resent on the next connection.
"""

import asyncio
import secrets
from collections.abc import Callable

from hawse.client.base.call_errors import ExitedError
from hawse.client.base.errors import fresh
from hawse.client.calls.unacknowledged_input import InputBuffer
from hawse.wire import Connection, HawseError, Kind

BytesLike = bytes | bytearray | memoryview


class InputStream:
    """An input stream that can span several channels. Implements `hawse.wire.Source`."""

    def __init__(self, limit: int, wake: Callable[[], None]) -> None:
        """Create a stream that keeps up to `limit` unconfirmed bytes; `wake` makes the connection pull from it."""
        self.id = secrets.token_hex(8)  # the `input` parameter, which identifies this stream on the server
        self.buffer = InputBuffer(limit)
        self._wake = wake
        self._tried = False  # whether a channel was opened before; if so, the server may know this stream
        self._held = False  # whether sending has to wait for `opened`, which contains the offset to resume at
        self._end_sent = False  # whether EOF has been sent on the current channel
        self._progress = asyncio.Event()
        self._lock = asyncio.Lock()
        self._closed: HawseError | None = None

    # ---- called by the channel

    def opening(self) -> None:
        """Prepare for a new channel. A new stream can send before `opened` arrives, because its offset is 0."""
        self._held, self._tried, self._end_sent = self._tried, True, False

    def opened(self, applied: int) -> None:
        """Handle the server's report that it has applied all bytes before the offset `applied`. Raises `HawseError`
        if the server has lost the stream.
        """
        if self._held:
            self._held = False
            self.buffer.reattach(applied)
        else:
            self.buffer.confirmed(applied)
        self._progress.set()
        self._wake()

    def credited(self, size: int) -> None:
        """Handle credit, which means that the server has applied `size` more bytes."""
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
        """End the stream. `write` and `flush` then raise `error`, or `exited` if `error` is None."""
        self._closed = self._closed or error or HawseError("exited", "the call has ended: its input is no longer read")
        self._progress.set()

    # ---- called by writers

    async def write(self, data: BytesLike) -> None:
        """Buffer `data`, and return once its last byte is buffered. Writes from several tasks are not interleaved.

        If the caller is cancelled, the first part of `data` may already have been buffered.

        Raises:
            HawseError: The call failed; `exited` if the program that reads the input has ended.
            TypeError: `data` is a str or not bytes. Nothing is buffered.
        """
        if isinstance(data, str):  # type: ignore[unreachable]  # a caller without a type checker can pass anything
            raise TypeError("the input must be bytes, not a str: encode it, for example with `.encode()`")
        view = memoryview(data).cast("B")
        async with self._lock:
            while True:
                if self._closed:
                    raise fresh(self._closed)
                if self.buffer.ended:
                    raise ExitedError("the input was ended")
                view = view[self.buffer.append(view) :]
                self._wake()
                if not view:
                    return
                await self._wait()

    async def flush(self) -> None:
        """Wait until the server has applied all bytes written so far. Raises `HawseError` if the call fails."""
        goal = self.buffer.end
        while self.buffer.applied < goal:
            if self._closed:
                raise fresh(self._closed)
            await self._wait()

    async def end(self) -> None:
        """Send EOF after all bytes written so far. Does nothing when called again or after the call has ended."""
        async with self._lock:
            self.buffer.ended = True
            self._wake()

    async def _wait(self) -> None:
        self._progress.clear()
        await self._progress.wait()
