"""Measure what a gateway on Redis spends on listing, watching and supervising many sandboxes, which are only rows.

`python -m bench.rows [--rows N] [--seconds N] [--pods]` prints a table. The rows are written to Redis before the
gateway starts. With `--pods`, each sandbox also has a pod and a claim, which a simulated cluster serves.
Processor time is the gateway's. A stretch is the processor time that the event loop spends without running a task that
is due each millisecond, so it doesn't depend on the machine's load.
"""

import argparse
import asyncio
import gc
import json
import os
import sys
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import uvloop
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

import hawse
from bench.sandboxes import temporary
from bench.scale import TOKEN, FakeProvider, Part, part, quantiles, show
from hawse_gateway.app import FEATURES, create_app
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.backups.feature import BACKUPS
from hawse_gateway.mounts.feature import MOUNTS
from hawse_gateway.providers.base import Endpoint, Observation, SandboxSpec
from hawse_gateway.providers.kubernetes.provider import KubernetesProvider
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import Run, SandboxRecord
from hawse_gateway.server import GatewayServer
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Put, Store
from hawse_gateway.store.clock import Clock
from hawse_gateway.store.redis import RedisStore
from hawse_gateway.transport.listener import listen
from hawse_gateway.tunnels.options import TunnelOptions
from tests.support import kubernetes_api
from tests.support.kubernetes_api import ClusterApi, unit as name
from tests.support.redis import RedisServer
from tests.support.stack import free_port

MODULE: Final = "bench.rows"
BATCH: Final = 100  # rows in one write
CHANGES: Final = 10  # a second
FOREIGN: Final = 200  # changes a second by another gateway, at most
LIFETIME: Final = 86_400.0
PAGES: Final = 300
PACE: Final = 0.02  # seconds between the calls whose latency is measured


class RowsProvider(FakeProvider):
    """A provider whose units are the sandboxes in the store, all running."""

    def __init__(self, path: Path, count: int) -> None:
        super().__init__(path)
        endpoint = Endpoint(path, "token")
        self._units = [Observation(unit=name(n), state="running", endpoint=endpoint) for n in range(count)]

    async def discover(self) -> list[Observation]:
        return self._units


async def fill(url: str, count: int) -> None:
    """Write the rows of running sandboxes, which expire one day from now."""
    store, now = RedisStore(url), Clock().now()
    await store.write(Put("meta", "adopted", b"true"))
    for start in range(0, count, BATCH):
        puts = []
        for number in range(start, min(start + BATCH, count)):
            id = name(number)
            record = SandboxRecord(
                id=id,
                unit=id,
                provider="fake",
                spec=SandboxSpec(env={"LANG": "C.UTF-8"}),
                wanted="running",
                generation=f"{number:016x}",
                created=now,
                fingerprint=f"{number:064x}",
                labels={"team": f"team-{number % 50}"},
                expires=now.after(LIFETIME),
                idle_timeout=LIFETIME,
                made=True,
                owner="ada" if number % 100 == 0 else "owner",
            )
            run = Run(
                unit=id,
                sandbox=id,
                generation=record.generation,
                provider="fake",
                runtime=f"{number:016x}",
                state="running",
                since=now,
                address="/nonexistent",
            )
            puts += [records.new(record), records.new(run)]
        await store.write(*puts)
    await store.close()


# ---- the processes


async def serve_cluster(port: str, count: str) -> None:
    await ClusterApi(int(count)).serve(int(port))
    print("ready", flush=True)
    await asyncio.Event().wait()


async def serve_gateway(url: str, port: str, count: str) -> None:
    """Serve the sandboxes. If `count` is zero, they are pods of the cluster in KUBECONFIG."""
    store = RedisStore(url)
    settings = Settings(state=Path("/nonexistent"), token=TOKEN, port=int(port))
    rows = RowsProvider(Path("/nonexistent"), int(count))
    sandboxes = Sandboxes(store, {"fake": rows if int(count) else KubernetesProvider(kubernetes_api.SETTINGS)})
    features = [feature for feature in FEATURES if feature not in (MOUNTS, BACKUPS)]
    given = {Store: store, Sandboxes: sandboxes, AuditLog: AuditLog(None), TunnelOptions: TunnelOptions()}
    app = create_app(settings, given, features)
    gc.freeze()  # like `hawse serve`

    async def announce() -> None:
        print("ready", flush=True)

    async with asyncio.TaskGroup() as tasks:
        watching = tasks.create_task(report_stretches())
        with listen("127.0.0.1", settings.port) as listener:
            await GatewayServer(app, settings, announce).serve(sockets=[listener])
        watching.cancel()


async def report_stretches() -> None:
    """Each time a line is received, measure until the next line, and then print the longest stretch in seconds."""
    while await asyncio.to_thread(sys.stdin.readline):
        longest, last = 0.0, time.thread_time()
        async with asyncio.TaskGroup() as tasks:
            end = tasks.create_task(asyncio.to_thread(sys.stdin.readline))
            while not end.done():
                await asyncio.sleep(0.001)
                now = time.thread_time()
                longest, last = max(longest, now - last), now
        print(longest, flush=True)


async def serve_lister(port: str, token: str) -> None:
    """Read page after page until killed."""
    async with caller(int(port), token) as listing:
        print("ready", flush=True)
        after = None
        while True:
            after = (await listing.call("sandbox.list", limit=100, after=after)).get("after")


ROLES: Final = {"gateway": serve_gateway, "lister": serve_lister, "cluster": serve_cluster}


class Caller:
    """Makes one call at a time on a connection."""

    def __init__(self, ws: ClientConnection) -> None:
        self._ws = ws
        self._ch = -1

    async def call(self, method: str, **params: Any) -> Any:
        self._ch += 2
        await self._ws.send(json.dumps({"type": "call", "ch": self._ch, "method": method, "params": params}))
        while (answer := json.loads(await self._ws.recv())).get("ch") != self._ch or answer["type"] == "event":
            pass
        assert answer["type"] == "result", answer
        return answer["value"]


@asynccontextmanager
async def caller(port: int, token: str) -> AsyncIterator[Caller]:
    opened = connect(
        f"ws://127.0.0.1:{port}/v1/connect",
        subprotocols=[Subprotocol("hawse.v1")],
        additional_headers={"Authorization": f"Bearer {token}"},
        proxy=None,
        compression=None,
        max_size=None,
    )
    async with opened as ws:
        await ws.send(json.dumps({"type": "hello", "protocol": 1, "client": "bench", "window": 65_536}))
        await ws.recv()
        yield Caller(ws)


# ---- the measurement


async def main(count: int, seconds: float, *, pods: bool) -> None:
    print(f"{count} {'pods' if pods else 'sandboxes'}; load before: {os.getloadavg()[0]:.1f}")
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(temporary()))
        redis = RedisServer(folder)
        await redis.start()
        stack.push_async_callback(redis.kill)
        await fill(redis.url, count)
        if pods:
            cluster = free_port()
            os.environ["KUBECONFIG"] = str(folder / "kubeconfig")
            kubernetes_api.write_kubeconfig(folder / "kubeconfig", cluster)
            await stack.enter_async_context(part("cluster", str(cluster), str(count), module=MODULE))
        port, begin = free_port(), time.monotonic()
        provided = "0" if pods else str(count)
        gateway = await stack.enter_async_context(part("gateway", redis.url, str(port), provided, module=MODULE))
        show("time to start", time.monotonic() - begin, "s")
        show("processor time to start", gateway.processor(), "s")
        show("highest memory until then", gateway.highest_memory(), "MiB")
        await follow(gateway, redis.url, count, seconds)
        await measure(gateway, port, count, seconds)
        show("highest memory", gateway.highest_memory(), "MiB")


async def follow(gateway: Part, url: str, count: int, seconds: float) -> None:
    """Measure the cost of another gateway's changes."""
    done: list[str] = []
    async with asyncio.TaskGroup() as tasks:
        changing = tasks.create_task(change_elsewhere(url, count, done))
        await asyncio.sleep(5)
        done.clear()
        before = gateway.processor()
        await asyncio.sleep(2 * seconds)
        spent = gateway.processor() - before
        show("changes a second by another gateway", len(done) / seconds / 2, "")
        show("the same, for each change", spent / len(done) * 1e6, "µs of processor time")
        changing.cancel()


async def measure(gateway: Part, port: int, count: int, seconds: float) -> None:
    show("memory", gateway.memory(), "MiB")
    await asyncio.sleep(5)

    async def spent(work: float = seconds) -> float:
        before = gateway.processor()
        await asyncio.sleep(work)
        return (gateway.processor() - before) / work * 100

    show("supervising, no clients", await spent(4 * seconds), "% of a core")
    await stretch("longest stretch of it", gateway, asyncio.sleep(seconds))
    async with (
        hawse.connect(f"http://127.0.0.1:{port}", token=TOKEN) as hw,
        caller(port, TOKEN) as owner,
        asyncio.TaskGroup() as tasks,
    ):
        tokens = {user: (await hw.tokens.create(own=True, user=user)).token for user in ("ada", "eve")}
        changing = tasks.create_task(change(owner, count))
        show(f"{CHANGES} changes a second without a watch", await spent(), "% of a core")
        async with hw.sandboxes.watch() as changes:
            reading = tasks.create_task(read(changes))
            await asyncio.sleep(10)
            show("the same, with one watch", await spent(), "% of a core")
            reading.cancel()
        changing.cancel()
        for user, token in {
            "the owner": TOKEN,
            "a user with 1 %": tokens["ada"],
            "a user with none": tokens["eve"],
        }.items():
            async with caller(port, token) as listing:
                for _ in range(20):
                    await listing.call("sandbox.list", limit=100)
                show(f"a page of {user}", await pages(gateway, listing), "ms of processor time")
                await stretch("longest stretch of it", gateway, pages(gateway, listing))
        async with caller(port, TOKEN) as other:
            quantiles("another client's call, alone", await latencies(other, seconds))
            async with part("lister", str(port), TOKEN, module=MODULE):
                quantiles("the same, while one client lists in a loop", await latencies(other, seconds))
    show("memory", gateway.memory(), "MiB")


async def stretch(title: str, gateway: Part, work: Any) -> None:
    """Do `work`, and print the longest stretch of processor time in the meantime."""
    gateway.go()
    await work
    gateway.go()
    show(title, float(await gateway.line()) * 1e3, "ms of processor time")


async def change(owner: Caller, count: int) -> None:
    for number in range(1 << 30):
        await owner.call("sandbox.update", id=name(number * 7919 % count), labels={"n": str(number)})
        await asyncio.sleep(1 / CHANGES)


async def change_elsewhere(url: str, count: int, done: list[str]) -> None:
    """Write rows of runs, like another gateway that starts and stops sandboxes."""
    store = RedisStore(url)
    try:
        for number in range(1 << 30):
            id = name(number * 7919 % count)
            run = (await records.read(store, id)).run
            assert run is not None
            await store.write(run.put(run.value))
            done.append(id)
            await asyncio.sleep(1 / FOREIGN)
    finally:
        await store.close()


async def read(changes: Any) -> None:
    async for _ in changes:
        pass


async def pages(gateway: Part, listing: Caller) -> float:
    """Return the milliseconds of the gateway's processor time for a page."""
    before, after = gateway.processor(), None
    for _ in range(PAGES):
        after = (await listing.call("sandbox.list", limit=100, after=after)).get("after")
    return (gateway.processor() - before) / PAGES * 1e3


async def latencies(other: Caller, seconds: float) -> list[float]:
    """Return the milliseconds of calls."""
    found, end = [], time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        await other.call("sandbox.get", id="local")
        found.append((time.monotonic() - begin) * 1e3)
        await asyncio.sleep(PACE)
    return found


if __name__ == "__main__":
    if sys.argv[1:2] and sys.argv[1] in ROLES:
        uvloop.run(ROLES[sys.argv[1]](*sys.argv[2:]))  # type: ignore[operator]
        sys.exit()
    parser = argparse.ArgumentParser(prog="python -m bench.rows")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--seconds", type=float, default=10.0, help="seconds for each measurement")
    parser.add_argument("--pods", action="store_true", help="let each sandbox be a pod of a simulated cluster")
    args = parser.parse_args()
    uvloop.run(main(args.rows, args.seconds, pods=args.pods))
