"""Passes the bytes of a TCP connection to a port of a sandbox and back. Each half ends by itself."""

import asyncio
from contextlib import suppress
from typing import Final, Protocol

CHUNK: Final = 64 << 10  # bytes of one read
IDLE: Final = 3600.0  # s without a byte in either direction until a connection is closed


class Channel(Protocol):
    """A connection to a port of a sandbox."""

    async def read(self) -> bytes:
        """Return some bytes; none when the program has closed its half."""
        ...

    async def write(self, *parts: bytes) -> None:
        """Send, and wait until it was taken."""
        ...

    async def keep_pace(self) -> None:
        """Wait as long as the limit of bytes requires."""
        ...

    def end(self) -> None:
        """Close this half."""


async def relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    channel: Channel,
    *,
    first: bytes = b"",
    idle: float = IDLE,
) -> None:
    """Pass bytes both ways until both halves have ended. The faster end waits for the slower one.

    Args:
        reader: What the visitor sends.
        writer: What the visitor gets.
        channel: The connection to the port.
        first: What the visitor has sent already.
        idle: Seconds without a byte until it ends.

    Raises:
        TimeoutError: No byte has passed for `idle` seconds.
        ExceptionGroup: Of `OSError` if the visitor has broken its connection, of `HawseError` if the other end has.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(idle) as deadline:

        async def up() -> None:
            data = first or await reader.read(CHUNK)
            while data:
                deadline.reschedule(loop.time() + idle)
                await channel.write(data)
                await channel.keep_pace()
                data = await reader.read(CHUNK)
            channel.end()

        async def down() -> None:
            while data := await channel.read():
                deadline.reschedule(loop.time() + idle)
                writer.write(data)
                await writer.drain()
            with suppress(OSError):
                writer.write_eof()

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(up(), name="tunnel up")
            tasks.create_task(down(), name="tunnel down")
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()  # until the visitor has got all of it
