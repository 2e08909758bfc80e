"""Measure two gateways on one Redis server with many sandboxes and clients. Fake runtimes speak the real wire protocol.

`python -m bench.scale [--sandboxes N] [--idle N] [--active N] [--seconds N]` prints a table. All parts are processes on
one machine, where the load of clients, runtimes and Redis delays the gateways, so the times are upper bounds.
"""

import argparse
import asyncio
import json
import os
import random
import resource
import statistics
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
import uvloop
from redis.asyncio import Redis
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

import hawse
from bench.sandboxes import at_once, temporary
from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Cancel, Connection, Data, HawseError, Hello, Limits, Message, Role
from hawse.wire.limits import LINK_CHANNELS
from hawse.wire.messages import ABILITY_PRINCIPALS
from hawse_gateway.app import FEATURES, create_app
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.backups.feature import BACKUPS
from hawse_gateway.mounts.feature import MOUNTS
from hawse_gateway.providers.base import Capabilities, Endpoint, MountPlace, Observation, Report, SandboxSpec
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.server import GatewayServer
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Store
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.transport.listener import listen
from hawse_gateway.tunnels.options import TunnelOptions
from tests.support.redis import RedisServer
from tests.support.stack import free_port

TOKEN: Final = "the token of the benchmark"
GATEWAYS: Final = 2
AT_ONCE: Final = 32
PAUSE: Final = 5.0  # seconds between the calls of an active client
FILES: Final = 60_000
MIB: Final = 1 << 20


class FakeRuntimes:
    """All runtimes. Each link is served separately, and each call is answered immediately."""

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        match event:
            case Hello():
                abilities = [ABILITY_PRINCIPALS]
                link.connection.send_welcome("fake", identity="gateway", role="gateway", abilities=abilities)
            case Call(method="answer"):
                link.connection.send_result(event.ch, {})
            case Call():
                link.connection.send_error(event.ch, HawseError("unknown_method", event.method))
            case Cancel():
                link.connection.send_error(event.ch, HawseError("cancelled"))

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        """Do nothing: no state is kept for a link."""


class FakeProvider:
    """A provider whose units are always running, at one socket."""

    images = None
    egress = None

    def __init__(self, path: Path) -> None:
        self._path = path

    async def capabilities(self) -> Capabilities:
        return Capabilities(provider="fake", isolation="none", remote=True)

    async def run(self) -> None:
        """Do nothing: there is nothing to follow."""

    async def create(self, unit: str, spec: SandboxSpec, report: Report) -> None:
        """Do nothing: units need no resources."""

    async def start(self, unit: str, spec: SandboxSpec, runtime: str, report: Report) -> Endpoint:
        return Endpoint(self._path, "token")

    async def stop(self, unit: str, runtime: str | None = None) -> None:
        """Do nothing: units end with the benchmark."""

    async def delete(self, unit: str) -> None:
        """Do nothing: units leave no resources behind."""

    async def pause(self, unit: str) -> None:
        raise HawseError("invalid_params", "fake sandboxes cannot be suspended")

    resume = pause

    async def observe(self, unit: str, runtime: str | None = None) -> Observation:
        return Observation(unit=unit, state="running", endpoint=Endpoint(self._path, "token"), isolation="none")

    async def discover(self) -> list[Observation]:
        return []  # missing units are observed individually

    async def mount_place(self, unit: str) -> MountPlace:
        raise HawseError("unavailable", "fake sandboxes have no mounts")

    async def close(self) -> None:
        """Do nothing: no connection is open."""


# ---- the processes


async def serve_runtimes(path: str) -> None:
    runtimes, limits = FakeRuntimes(), Limits(channels=LINK_CHANNELS)
    loop = asyncio.get_running_loop()
    server = await loop.create_unix_server(
        lambda: StreamLink(Connection(Role.SERVER, limits), runtimes), path, backlog=4096
    )
    print("ready", flush=True)
    await server.serve_forever()


async def serve_gateway(path: str, url: str, port: str) -> None:
    store = RedisStore(url)
    settings = Settings(state=Path("/nonexistent"), token=TOKEN, port=int(port), max_connections=FILES)
    sandboxes = Sandboxes(store, {"fake": FakeProvider(Path(path))}, idle_timeout=0.0)
    features = [feature for feature in FEATURES if feature not in (MOUNTS, BACKUPS)]
    given = {Store: store, Sandboxes: sandboxes, AuditLog: AuditLog(None), TunnelOptions: TunnelOptions()}
    app = create_app(settings, given, features)

    async def announce() -> None:
        print("ready", flush=True)

    with listen("127.0.0.1", settings.port) as listener:
        await GatewayServer(app, settings, announce).serve(sockets=[listener])


async def serve_clients(ports: str, count: str, seconds: str, sandboxes: str) -> None:
    """Connect clients. If `seconds` is positive, each client calls sandboxes; print the times, 0 for a refused call."""
    to = [int(port) for port in ports.split(",")]
    found: list[ClientConnection] = []
    async with AsyncExitStack() as stack:

        async def one(number: int) -> None:
            headers = {"Authorization": f"Bearer {TOKEN}"}
            address = f"ws://127.0.0.1:{to[number % len(to)]}/v1/connect"
            opened = connect(
                address,
                subprotocols=[Subprotocol("hawse.v1")],
                additional_headers=headers,
                proxy=None,
                compression=None,
                open_timeout=120,
                ping_interval=None,
            )
            ws = await stack.enter_async_context(opened)
            await ws.send(json.dumps({"type": "hello", "protocol": 1, "client": "bench", "window": 65_536}))
            await ws.recv()
            found.append(ws)

        await at_once(AT_ONCE, (partial(one, number) for number in range(int(count))))
        print("ready", flush=True)
        if float(seconds):
            await asyncio.to_thread(sys.stdin.readline)
            end = time.monotonic() + float(seconds)
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(call(ws, end, int(sandboxes))) for ws in found]
            print(json.dumps([took for task in tasks for took in task.result()]), flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        os._exit(0)  # closing handshakes of thousands of clients are not part of the measurement


async def call(ws: ClientConnection, end: float, sandboxes: int) -> list[float]:
    """Make calls repeatedly, and return their times in milliseconds."""
    times: list[float] = []
    await asyncio.sleep(random.random() * PAUSE)
    for number in range(1, 1 << 30):
        if (begin := time.monotonic()) >= end:
            return times
        message = {"type": "call", "ch": 2 * number - 1, "method": "answer", "params": {}}
        await ws.send(json.dumps(message | {"sandbox": f"s{random.randrange(sandboxes)}"}))
        while (answer := json.loads(await ws.recv()))["type"] not in ("result", "error"):
            pass
        times.append((time.monotonic() - begin) * 1e3 if answer["type"] == "result" else 0.0)
        await asyncio.sleep(PAUSE)
    return times


ROLES: Final = {"runtimes": serve_runtimes, "gateway": serve_gateway, "clients": serve_clients}


# ---- the measurement


class Part:
    """A process of the benchmark that has printed `ready`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.seen = psutil.Process(process.pid)

    def memory(self) -> float:
        return self.seen.memory_info().rss / MIB

    def highest_memory(self) -> float:
        """Return the most memory that the process has used at any time."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def processor(self) -> float:
        times = self.seen.cpu_times()
        return times.user + times.system

    async def line(self) -> str:
        assert self.process.stdout is not None
        return (await self.process.stdout.readline()).decode()

    def go(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")


@asynccontextmanager
async def part(*arguments: str, module: str = "bench.scale") -> AsyncIterator[Part]:
    """Start a benchmark's module in another process, and kill that process at the end."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=64 * MIB,
    )
    started = Part(process)
    try:
        assert await started.line() == "ready\n"
        yield started
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def show(name: str, value: float, unit: str) -> None:
    print(f"{name:56}{value:12.2f} {unit}", flush=True)


def quantiles(name: str, times: Sequence[float]) -> None:
    cuts = statistics.quantiles(times, n=100)
    print(f"{name:56}{cuts[49]:12.2f} ms, p99 {cuts[98]:.1f} ms, of {len(times)}", flush=True)


async def main(count: int, idle: int, active: int, seconds: float) -> None:
    print(f"{count} sandboxes, {idle} idle and {active} active clients; load before: {os.getloadavg()[0]:.1f}")
    with temporary() as name:
        folder, redis = Path(name), RedisServer(Path(name))
        await redis.start()
        try:
            await measure(folder, redis, count, idle, active, seconds)
        finally:
            await redis.kill()


async def measure(folder: Path, redis: RedisServer, count: int, idle: int, active: int, seconds: float) -> None:
    ports = [free_port() for _ in range(GATEWAYS)]
    path, numbers = str(folder / "runtimes"), ",".join(map(str, ports))
    async with AsyncExitStack() as stack:
        counted = await stack.enter_async_context(Redis.from_url(redis.url))

        async def commands() -> int:
            return int((await counted.info("stats"))["total_commands_processed"])

        await stack.enter_async_context(part("runtimes", path))
        gateways = [await stack.enter_async_context(part("gateway", path, redis.url, str(port))) for port in ports]

        def processor() -> float:
            return sum(each.processor() for each in gateways)

        def memory() -> float:
            return sum(each.memory() for each in gateways)

        show("memory of a gateway at its start", memory() / GATEWAYS, "MiB")
        resident = memory()
        await stack.enter_async_context(part("clients", numbers, str(idle), "0", str(count)))
        show("memory of gateways for an idle client", (memory() - resident) / max(idle, 1) * 1024, "KiB")
        before, used, resident = await commands(), processor(), memory()
        times = await create(ports, count)
        quantiles("creation", times)
        show("Redis commands for a creation", (await commands() - before) / count, "")
        show("processor time of gateways for a creation", (processor() - used) / count * 1e3, "ms")
        show("memory of gateways for a sandbox", (memory() - resident) / count * 1024, "KiB")
        before, used = await commands(), processor()
        await asyncio.sleep(seconds)
        show("Redis commands in a second, all clients idle", (await commands() - before) / seconds, "")
        show("processor time of gateways, all clients idle", (processor() - used) / seconds * 100, "% of a core")
        calling = await stack.enter_async_context(part("clients", numbers, str(active), str(seconds), str(count)))
        before, used, resident = await commands(), processor(), memory()
        calling.go()
        times = json.loads(await calling.line())
        quantiles("call", [took for took in times if took])
        show("calls that were refused", times.count(0.0), "")
        show("Redis commands for a call", (await commands() - before) / len(times), "")
        show("processor time of gateways for a call", (processor() - used) / len(times) * 1e3, "ms")
        show(
            "memory of gateways for an active client and its links",
            (memory() - resident) / max(active, 1) * 1024,
            "KiB",
        )
        show("memory of a gateway", memory() / GATEWAYS, "MiB")
        begin = time.monotonic()
        gateways[0].process.terminate()
        await gateways[0].process.wait()
        show(f"time to drain a gateway with {(idle + active) // GATEWAYS} clients", time.monotonic() - begin, "s")


async def create(ports: Sequence[int], count: int) -> list[float]:
    """Create sandboxes through all gateways. Return the times in milliseconds."""
    times = []
    async with AsyncExitStack() as stack:
        clients: list[Any] = [
            await stack.enter_async_context(hawse.connect(f"http://127.0.0.1:{port}", token=TOKEN)) for port in ports
        ]

        async def one(number: int) -> None:
            begin = time.monotonic()
            await clients[number % len(clients)].sandboxes.create(f"s{number}", keep_alive=True)
            times.append((time.monotonic() - begin) * 1e3)

        await at_once(AT_ONCE, (partial(one, number) for number in range(count)))
    return times


if __name__ == "__main__":
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if sys.argv[1:2] and sys.argv[1] in ROLES:
        uvloop.run(ROLES[sys.argv[1]](*sys.argv[2:]))  # type: ignore[operator]
        sys.exit()
    parser = argparse.ArgumentParser(prog="python -m bench.scale")
    parser.add_argument("--sandboxes", type=int, default=5000)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("--active", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=20.0, help="seconds that clients make calls")
    args = parser.parse_args()
    uvloop.run(main(args.sandboxes, args.idle, args.active, args.seconds))
