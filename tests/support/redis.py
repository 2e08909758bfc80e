"""Separate Redis servers for a test: one on a Unix socket, or a primary and a replica monitored by a Sentinel."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from redis.asyncio import Redis
from redis.exceptions import RedisError

from tests.support.stack import free_port
from tests.support.waiting import TIMEOUT


class RedisServer:
    """A server that can be killed and restarted with its persisted data."""

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
        """Start it and wait until it answers. `durable`: each write is persisted before it is confirmed."""
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


class SentinelGroup:
    """A primary, a replica, and a Sentinel that promotes the replica if the primary does not answer for 0.5 s."""

    NAME = "rows"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = (free_port(), free_port())
        self._sentinel = free_port()
        self._processes: dict[int, asyncio.subprocess.Process] = {}

    @property
    def url(self) -> str:
        return f"redis+sentinel://127.0.0.1:{self._sentinel}/{self.NAME}/0"

    async def start(self) -> None:
        """Start all three, and wait until the replica follows the primary and the Sentinel knows both."""
        primary, replica = self._ports
        await self._start_server(primary)
        await self._start_server(replica, "--replicaof", "127.0.0.1", str(primary))
        config = self._folder / "sentinel.conf"
        config.write_text(
            f"port {self._sentinel}\nbind 127.0.0.1\ndir {self._folder}\n"
            f"sentinel monitor {self.NAME} 127.0.0.1 {primary} 1\n"
            f"sentinel down-after-milliseconds {self.NAME} 500\nsentinel failover-timeout {self.NAME} 2000\n"
        )
        async with Redis(port=primary) as asked:
            await _until(lambda: _has_replica(asked))  # a Sentinel asks for replicas when it starts, and 10 s later
        await self._run(self._sentinel, str(config), "--sentinel")
        async with Redis(port=self._sentinel, decode_responses=True) as asked:
            await _until(lambda: _knows_replica(asked, self.NAME))

    async def replicated(self) -> None:
        """Wait until the replica has received all writes so far."""
        async with Redis(port=self._ports[0], decode_responses=True) as asked:
            written = (await asked.info("replication"))["master_repl_offset"]
            await _until(lambda: _has_replica(asked, written))

    async def kill_primary(self) -> None:
        """Kill the primary, and wait until the replica has been promoted."""
        primary, replica = self._ports
        process = self._processes.pop(primary)
        process.kill()
        await process.wait()
        async with Redis(port=replica, decode_responses=True) as asked:
            await _until(lambda: _is_primary(asked))

    async def close(self) -> None:
        for process in self._processes.values():
            process.kill()
            await process.wait()

    async def _start_server(self, port: int, *options: str) -> None:
        files = ("--save", "", "--appendonly", "no", "--dir", str(self._folder), "--dbfilename", f"{port}.rdb")
        await self._run(port, "--port", str(port), "--bind", "127.0.0.1", *files, *options)

    async def _run(self, port: int, *arguments: str) -> None:
        self._processes[port] = await asyncio.create_subprocess_exec(
            "redis-server", *arguments, stdout=asyncio.subprocess.DEVNULL
        )
        async with Redis(port=port) as client:
            await _until(lambda: _answers(client))


@asynccontextmanager
async def sentinel_group(folder: Path) -> AsyncIterator[SentinelGroup]:
    """Start a group of servers."""
    group = SentinelGroup(folder)
    try:
        await group.start()
        yield group
    finally:
        await group.close()


async def _until(right: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(TIMEOUT):
        while not await right():  # noqa: ASYNC110  # another process is asked
            await asyncio.sleep(0.02)


async def _knows_replica(sentinel: Redis, name: str) -> bool:
    return len(await sentinel.execute_command("SENTINEL", "REPLICAS", name)) == 1


async def _has_replica(primary: Redis, offset: int = 0) -> bool:
    replicas = [value for key, value in (await primary.info("replication")).items() if key.startswith("slave")]
    return any(isinstance(each, dict) and each["state"] == "online" and each["offset"] >= offset for each in replicas)


async def _is_primary(server: Redis) -> bool:
    return bool((await server.info("replication"))["role"] == "master")


@asynccontextmanager
async def redis_server(folder: Path) -> AsyncIterator[str]:
    """Start redis-server and yield its URL."""
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
