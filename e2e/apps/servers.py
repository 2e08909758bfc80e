"""Servers of others, started on loopback for one test."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

START = 30.0  # s for a server to accept connections
STOP = 10.0  # s for a server to end after SIGTERM


@asynccontextmanager
async def server(argv: Sequence[str | Path], port: int, *, log: Path) -> AsyncIterator[None]:
    """Run a server in the foreground while the context lasts; enter when it accepts connections.

    Args:
        argv: The program and its arguments.
        port: The TCP port of 127.0.0.1 that it listens on.
        log: The file for its output, which is in the error if it does not start.
    """
    with log.open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            *map(str, argv), stdin=asyncio.subprocess.DEVNULL, stdout=output, stderr=output
        )
    try:
        await accepting(port, process, log)
        yield
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def accepting(port: int, process: asyncio.subprocess.Process, log: Path) -> None:
    """Wait until a port accepts connections. A server has no event for this, so the port is tried.

    Raises:
        RuntimeError: The server has ended.
        TimeoutError: It does not accept connections within START.
    """
    async with asyncio.timeout(START):
        while True:
            if process.returncode is not None:
                printed = await asyncio.to_thread(log.read_text, errors="replace")
                raise RuntimeError(f"the server ended with {process.returncode}:\n{printed}")
            with suppress(OSError):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.close()
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(0.05):
                    await process.wait()
