"""A Redis server of the test's own, on a Unix socket: without files, or with a log of all writes."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError


class RedisServer:
    """A server that can be killed, and started again with what it had written."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: asyncio.subprocess.Process | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._folder}/redis.sock"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    async def start(self, *, durable: bool = False) -> None:
        """Start it and wait until it answers. `durable`: each write is in a file before it is confirmed."""
        options = [
            "--port",
            "0",
            "--unixsocket",
            f"{self._folder}/redis.sock",
            "--save",
            "",
            "--dir",
            str(self._folder),
        ]
        options += ["--appendonly", "yes", "--appendfsync", "always"] if durable else ["--appendonly", "no"]
        self._process = await asyncio.create_subprocess_exec(
            "redis-server", *options, stdout=asyncio.subprocess.DEVNULL
        )
        client = Redis.from_url(self.url)
        async with asyncio.timeout(20):
            while not await _answers(client):  # noqa: ASYNC110  # until it listens
                await asyncio.sleep(0.01)
        await client.aclose()

    async def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()


@asynccontextmanager
async def redis_server(folder: Path) -> AsyncIterator[str]:
    """Start redis-server and give its URL."""
    server = RedisServer(folder)
    await server.start()
    (folder / "pid").write_text(str(server.pid))
    try:
        yield server.url
    finally:
        await server.kill()


async def _answers(client: Redis) -> bool:
    try:
        return bool(await client.ping())
    except (RedisError, OSError):
        return False
