"""Waits until a local port accepts connections, by trying repeatedly."""

import asyncio
import contextlib

HOSTS = ("127.0.0.1", "::1")  # loopback addresses; a server may listen on only one of them
ATTEMPT_TIMEOUT = 2.0  # seconds per attempt
LINE_LIMIT = 4096  # maximum size of a status line, in bytes
PAUSES = (0.02, 0.05, 0.1, 0.2, 0.5)  # seconds between attempts; the last value repeats


async def until_open(
    port: int, path: str | None, status: tuple[int, int], *, attempt_timeout: float = ATTEMPT_TIMEOUT
) -> int | None:
    """Wait until a program is listening on a port or, if `path` is set, responds to an HTTP request.

    Args:
        port: The TCP port on the loopback addresses.
        path: The target for a GET request; None means to wait only for a listener.
        status: The lowest and highest accepted status codes.
        attempt_timeout: The time limit for each attempt, in seconds.

    Returns:
        The response's status code; None if `path` is None.
    """
    look = 0
    while True:
        for host in HOSTS:
            with contextlib.suppress(OSError, TimeoutError, ValueError):
                async with asyncio.timeout(attempt_timeout):
                    answer = await _look(host, port, path)
                if path is None or (answer is not None and status[0] <= answer <= status[1]):
                    return answer
        await asyncio.sleep(PAUSES[min(look, len(PAUSES) - 1)])
        look += 1


async def _look(host: str, port: int, path: str | None) -> int | None:
    """Return the status code, or None if `path` is None. Raises `OSError`, or `ValueError` if the reply isn't HTTP."""
    reader, writer = await asyncio.open_connection(host, port, limit=LINE_LIMIT)
    try:
        if path is None:
            return None
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n".encode())
        version, _, rest = (await reader.readline()).partition(b" ")
        if not version.startswith(b"HTTP/"):
            raise ValueError("the response is not HTTP")
        return int(rest[:3])
    finally:
        writer.transport.abort()
