"""Measures how the load of one caller affects other callers: the latency of `exec` and the memory of the runtime.

`python -m bench.neighbours` starts a gateway and a runtime, and prints one line per kind of load.
"""

import asyncio
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import uvloop

import hawse
from bench.lab import memory
from hawse.client import Sandbox
from hawse.wire import HawseError
from tests.support.stack import Stack

SAMPLES = 15  # number of `exec` calls during each load
ROWS = "seq -f '%08.0f of many coloured rows' 6000"
Load = Callable[[Stack, Sandbox], AsyncIterator[None]]


async def latencies(box: Sandbox) -> list[float]:
    """Return the milliseconds of `SAMPLES` calls of `exec`."""
    found = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        await box.exec("true")
        found.append((time.perf_counter() - start) * 1e3)
    return found


@asynccontextmanager
async def repeated(count: int, call: Callable[[], Awaitable[Any]]) -> AsyncIterator[None]:
    """Keep `count` calls open by repeating each call that ends."""

    async def repeat() -> None:
        while True:
            with suppress(HawseError):
                await call()

    async with asyncio.TaskGroup() as tasks:
        running = [tasks.create_task(repeat()) for _ in range(count)]
        await asyncio.sleep(0.5)
        yield
        for task in running:
            task.cancel()


@asynccontextmanager
async def screens(stack: Stack, box: Sandbox) -> AsyncIterator[None]:
    async with (
        box.terminals.open("rows", argv=["sh", "-c", f"{ROWS}; exec cat"]) as terminal,
        repeated(100, lambda: terminal.screen(format="html", scrollback=6000)),
    ):
        yield


@asynccontextmanager
async def waits(stack: Stack, box: Sandbox) -> AsyncIterator[None]:
    argv = ["sh", "-c", "while :; do seq 2000; sleep 0.1; done"]
    async with (
        box.terminals.open("busy", argv=argv) as terminal,
        repeated(300, lambda: terminal.wait_for(pattern="never in the output", timeout=60)),
    ):
        yield


@asynccontextmanager
async def unread_files(stack: Stack, box: Sandbox) -> AsyncIterator[None]:
    """Open 6,000 reads. Their client reads nothing beyond the window of 64 KiB."""
    await box.exec("truncate -s 100M file")
    options = hawse.Options(window=64 << 10)

    async def open_unread(client: hawse.Client) -> None:
        async with client.sandbox().files.open_read("file"):
            await asyncio.Event().wait()

    async with AsyncExitStack() as stack_:
        for _ in range(6):
            other = await stack_.enter_async_context(hawse.connect(stack.base, token=stack.token, options=options))
            await stack_.enter_async_context(repeated(1000, partial(open_unread, other)))
        yield


LOADS: dict[str, Any] = {"100 screens as HTML": screens, "300 waits": waits, "6,000 unread files": unread_files}


async def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with (
            Stack(Path(folder)) as stack,
            hawse.connect(stack.base, token=stack.token) as mine,
            hawse.connect(stack.base, token=stack.token) as theirs,
        ):
            box = mine.sandbox()
            runtime = (await box.call("runtime.info"))["pid"]
            await latencies(box)
            show("nothing", await latencies(box), runtime)
            for name, load in LOADS.items():
                async with load(stack, theirs.sandbox()):
                    show(name, await latencies(box), runtime)


def show(name: str, found: list[float], runtime: int) -> None:
    middle = statistics.median(found)
    print(f"beside {name:20} exec {middle:7.1f} ms, at most {max(found):7.1f} ms; memory {memory(runtime) >> 20:5} MiB")


if __name__ == "__main__":
    uvloop.run(main())
