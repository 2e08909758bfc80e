"""Sends the host's messages to the runtime. Senders wait while the runtime isn't reading."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from hawse_runtime.code.host_protocol import CHUNK, HostMessage, encode, encode_output

BUFFER = 256 << 10  # maximum number of bytes waiting to be written; above it, kernel output is not read


class Outbox:
    """The writing side of the socket to the runtime."""

    def __init__(self, writer: asyncio.StreamWriter, start: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Create an outbox for `writer`. `start` starts a task owned by the host."""
        self.start = start
        self._writer = writer
        writer.transport.set_write_buffer_limits(high=BUFFER)

    async def send(self, message: HostMessage) -> None:
        """Send a control message."""
        self._writer.write(encode(message))
        await self._writer.drain()

    async def send_output(self, kind: int, run: int, data: bytes, flowing: asyncio.Event) -> None:
        """Send output in chunks of at most CHUNK bytes.

        Args:
            kind: STDOUT, STDERR or BUNDLES.
            run: The run's number.
            data: The output, of any length.
            flowing: Set while the runtime is accepting output from this kernel.
        """
        view = memoryview(data)
        while view:
            await flowing.wait()
            self._writer.write(encode_output(kind, run, view[:CHUNK]))
            view = view[CHUNK:]
            await self._writer.drain()
