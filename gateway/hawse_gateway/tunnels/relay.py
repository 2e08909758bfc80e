"""Passes the bytes of a TCP connection to a port in a sandbox and back. Each half ends separately."""

import asyncio
from contextlib import suppress
from typing import Final, Protocol

CHUNK: Final = 64 << 10  # bytes per read
IDLE: Final = 3600.0  # s without data in either direction until a connection is closed


class Channel(Protocol):
    """A connection to a port in a sandbox."""

    async def read(self) -> bytes:
        """Return some bytes, or none once the program has closed its half."""
        ...

    async def write(self, *parts: bytes) -> None:
        """Send bytes, and wait until they have been taken."""
        ...

    async def keep_pace(self) -> None:
        """Wait as long as the limit of bytes per second requires."""
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
        reader: The bytes from the visitor.
        writer: The bytes to the visitor.
        channel: The connection to the port.
        first: Bytes that the visitor has already sent.
        idle: Seconds without data until the relay ends.

    Raises:
        TimeoutError: No data was passed for `idle` seconds.
        ExceptionGroup: With `OSError` if the visitor broke its connection, with `HawseError` if the other end did.
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
            await writer.wait_closed()  # until the visitor has received all of it
