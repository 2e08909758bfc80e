"""A Redis server of the test's own, on a Unix socket, without files."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError


@asynccontextmanager
async def redis_server(folder: Path) -> AsyncIterator[str]:
    """Start redis-server and give its URL."""
    socket = folder / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(socket), "--save", "", "--appendonly", "no", "--dir", str(folder)]
    server = await asyncio.create_subprocess_exec("redis-server", *options, stdout=asyncio.subprocess.DEVNULL)
    (folder / "pid").write_text(str(server.pid))
    try:
        client = Redis.from_url(f"unix://{socket}")
        async with asyncio.timeout(20):
            while not await _answers(client):  # noqa: ASYNC110  # until it listens
                await asyncio.sleep(0.01)
        await client.aclose()
        yield f"unix://{socket}"
    finally:
        server.kill()
        await server.wait()


async def _answers(client: Redis) -> bool:
    try:
        return bool(await client.ping())
    except (RedisError, OSError):
        return False
