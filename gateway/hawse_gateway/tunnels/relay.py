"""Relays a TCP connection to a port in a sandbox. Each direction ends separately."""

import asyncio
from contextlib import suppress
from typing import Final, Protocol

CHUNK: Final = 64 << 10  # maximum number of bytes per read
IDLE: Final = 3600.0  # seconds without data in either direction before a connection is closed


class Channel(Protocol):
    """A connection to a port in a sandbox."""

    async def read(self) -> bytes:
        """Read some bytes. Return b"" at the end of the program's data."""
        ...

    async def write(self, *parts: bytes) -> None:
        """Send bytes, and wait until they have been accepted."""
        ...

    async def keep_pace(self) -> None:
        """Wait until the byte rate limit allows more data."""
        ...

    def end(self) -> None:
        """Send the end of the data."""


async def relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    channel: Channel,
    *,
    first: bytes = b"",
    idle: float = IDLE,
) -> None:
    """Relay bytes until both directions have ended. The faster side waits for the slower one.

    Args:
        reader: The stream to read from the visitor.
        writer: The stream to write to the visitor.
        channel: The connection to the port.
        first: Bytes already read from the visitor.
        idle: The maximum time without data before the relay ends, in seconds.

    Raises:
        TimeoutError: No data was relayed for `idle` seconds in either direction.
        ExceptionGroup: Contains `OSError` if the visitor's connection broke, or `HawseError` if the connection to the
            port broke.
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
            await writer.wait_closed()  # waits until all data has been sent to the visitor
