"""Sends the host's messages to the runtime. Senders wait while the runtime is not reading."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from hawse_runtime.code.host_protocol import CHUNK, HostMessage, encode, encode_output

BUFFER = 256 << 10  # bytes that wait to be written; above this, the kernels' output is not read


class Outbox:
    """The write end of the socket to the runtime."""

    def __init__(self, writer: asyncio.StreamWriter, start: Callable[[Coroutine[Any, Any, None]], object]) -> None:
        """Create an outbox for `writer`. `start` starts a task that the host owns."""
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
            run: The number of the run.
            data: The output, of any length.
            flowing: Set while the runtime accepts output from this kernel.
        """
        view = memoryview(data)
        while view:
            await flowing.wait()
            self._writer.write(encode_output(kind, run, view[:CHUNK]))
            view = view[CHUNK:]
            await self._writer.drain()
