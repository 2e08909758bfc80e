"""Measures the time to get a sandbox, compared with bare `bwrap` and `docker run`, and the cost of an idle sandbox.

`python -m bench.sandboxes [--rounds N] [--idle N]` prints a table. `--docker IMAGE` also measures the Docker provider,
with the engine at DOCKER_HOST and an image that contains /bin/true. Run it on an otherwise idle machine.
"""

import argparse
import asyncio
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

import psutil
import uvloop

import hawse
from hawse.client import Client
from hawse_gateway.providers.docker.provider import GATEWAY_ID
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support import docker
from tests.support.bundle import BUNDLES, ensure_tests_bundle
from tests.support.stack import Stack

POOL: Final = 2
TRUE: Final = ["/bin/true"]
TARGETS: Final = {
    "bubblewrap, from the pool, ms": 60.0,
    "bubblewrap, cold, ms": 400.0,
    "Docker, from the pool, ms": 100.0,
    "idle sandbox, MiB (PSS)": 25.0,
}
BARE: Final = "--ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent --new-session".split()


async def main(rounds: int, idle: int, image: str | None) -> None:
    print(f"load before: {os.getloadavg()[0]:.1f}; {rounds} rounds, median (minimum to maximum)")
    with temporary() as folder:
        report("bwrap /bin/true, ms", [await run(["bwrap", *BARE, *TRUE]) for _ in range(rounds)])
        async with gateway(Path(folder), "--pool", str(POOL), isolation="bubblewrap") as (hw, _):
            report("bubblewrap, from the pool, ms", await pooled(hw, rounds))
            report("bubblewrap, cold, ms", [await first_command(hw, network="none") for _ in range(rounds)])
    if image is not None:
        bare = ["docker", "run", "--rm", "--network", "none", image, *TRUE]
        report("docker run /bin/true, ms", [await run(bare) for _ in range(rounds)])
        with temporary() as folder:
            options = ["--provider", "docker", "--image", image, "--pool", str(POOL)]
            ensure_tests_bundle()
            (Path(folder) / "bundles").symlink_to(BUNDLES)
            try:
                async with gateway(Path(folder), *options) as (hw, _):
                    report("Docker, from the pool, ms", await pooled(hw, rounds))
                    report("Docker, cold, ms", [await first_command(hw, network="host") for _ in range(rounds)])
            finally:
                docker.clean(StateDirectory(Path(folder)).identity(GATEWAY_ID))
    if idle:
        with temporary() as folder:
            async with gateway(Path(folder), isolation="bubblewrap") as (hw, stack):
                report("idle sandbox, MiB (PSS)", [await memory_of_idle(hw, stack, idle)])


def report(name: str, values: list[float]) -> None:
    """Print a row of the table."""
    target = TARGETS.get(name)
    median = statistics.median(values)
    verdict = "" if target is None else f"  target ≤ {target:g}: {'met' if median <= target else 'MISSED'}"
    print(f"{name:32}{median:9.1f}  ({min(values):.1f} to {max(values):.1f}){verdict}", flush=True)


@asynccontextmanager
async def gateway(folder: Path, *options: str, isolation: str = "auto") -> AsyncIterator[tuple[Client, Stack]]:
    """Start a gateway. At the end, delete all its sandboxes."""
    async with (
        Stack(folder, *options, isolation=isolation) as stack,
        hawse.connect(stack.base, token=stack.token) as hw,
    ):
        try:
            yield hw, stack
        finally:
            await at_once(16, (hw.sandbox(info.id).delete for info in await hw.sandboxes.list()))
        await stack.terminate()


async def run(argv: list[str]) -> float:
    """Return the milliseconds that a command takes."""
    begin = time.perf_counter()
    process = await asyncio.create_subprocess_exec(*argv)
    assert await process.wait() == 0
    return (time.perf_counter() - begin) * 1e3


async def first_command(hw: Client, **options: str) -> float:
    """Return the milliseconds from creating a sandbox to the end of its first command."""
    begin = time.perf_counter()
    box = await hw.sandboxes.create(**options)  # type: ignore[arg-type]
    await box.exec(TRUE)
    took = (time.perf_counter() - begin) * 1e3
    await box.delete()
    return took


async def pooled(hw: Client, rounds: int) -> list[float]:
    """Return the milliseconds of creations with a full pool. Each member is replaced before the next creation."""
    found = []
    for _ in range(rounds):
        await asyncio.sleep(SETTLE)
        found.append(await first_command(hw))
    return found


SETTLE: Final = 6.0  # seconds until the pool is full; clients cannot see its members


async def memory_of_idle(hw: Client, stack: Stack, count: int) -> float:
    """Return the memory per sandbox in MiB of `count` unused sandboxes. Shared pages are divided among them."""
    await at_once(8, (create(hw, number) for number in range(count)))
    await asyncio.sleep(SETTLE)
    found = set(stack.runtimes())
    found |= {parent for process in found for parent in process.parents() if parent.name() == "bwrap"}
    total = 0
    for process in found:
        with suppress(psutil.Error):
            total += process.memory_full_info().pss
    return total / count / (1 << 20)


def create(hw: Client, number: int) -> Callable[[], Awaitable[object]]:
    async def work() -> object:
        return await hw.sandboxes.create(f"idle-{number}", keep_alive=True)

    return work


async def at_once(most: int, works: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Run all `works`, at most `most` at once."""
    free = asyncio.Semaphore(most)

    async def one(work: Callable[[], Awaitable[object]]) -> None:
        async with free:
            await work()

    async with asyncio.TaskGroup() as tasks:
        for work in works:
            tasks.create_task(one(work))


def temporary() -> "tempfile.TemporaryDirectory[str]":
    return tempfile.TemporaryDirectory(prefix="hawse-bench-")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.sandboxes")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--idle", type=int, default=200, metavar="N", help="number of sandboxes whose memory is measured"
    )
    parser.add_argument("--docker", metavar="IMAGE", help="also measure the Docker provider with this image")
    args = parser.parse_args()
    assert shutil.which("bwrap"), "bubblewrap is not installed"
    uvloop.run(main(args.rounds, args.idle, args.docker))
