"""The servers to compare: hawse as a user starts it, the naive server, and a server that shows the machine's limits.

The client runs on one core, the servers run on the others.

A figure is a function `async (lab, round) -> {(name, server): value}`, where `server` is `limit`, `naive` or `hawse`.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import psutil

from bench.drive import HawseSocket, NaivePty
from tests.support.stack import Stack, free_port

Figures = dict[tuple[str, str], float]
Figure = Callable[["Lab", int], Awaitable[Figures]]


class Lab:
    """The running servers. `naive` and `limit` are their ports."""

    def __init__(self, naive: int, naive_pid: int, limit: int, stack: Stack) -> None:
        self.naive = naive
        self.naive_pid = naive_pid
        self.limit = limit
        self.stack = stack
        self.runtime_pid = 0
        self.screen_pid = 0

    async def hawse(self) -> HawseSocket:
        return await HawseSocket.open(self.stack.port, self.stack.token)

    @property
    def hawse_pids(self) -> tuple[int, int, int]:
        """The pids of the gateway, the runtime and the runtime's screen process."""
        return self.stack.pid, self.runtime_pid, self.screen_pid

    async def read_pty(self, command: str) -> tuple[float, float]:
        """Return (MB/s, CPU seconds per 100 MB) of a process that only reads a PTY, on the servers' cores."""
        process = await asyncio.create_subprocess_exec(
            *pinned(), sys.executable, "-m", "bench.limits", "pty", command, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await process.communicate()
        speed, cpu = output.split()
        return float(speed), float(cpu)


def cpu(*pids: int) -> float:
    """Return the total CPU seconds used by the given processes."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return sum(t.user + t.system for t in times)


def memory(*pids: int) -> int:
    """Return the bytes of memory that the given processes do not share with others."""
    return sum(psutil.Process(pid).memory_full_info().uss for pid in pids)


def cores() -> tuple[list[int], list[int]]:
    """Return the client's cores and the servers' cores."""
    all_ = sorted(os.sched_getaffinity(0))
    return (all_[:1], all_[1:]) if len(all_) > 1 else (all_, all_)


def pinned() -> list[str]:
    """Return a command prefix that pins a command to the servers' cores."""
    return ["taskset", "-c", ",".join(map(str, SERVERS))]


CLIENT, SERVERS = cores()


@asynccontextmanager
async def open_lab() -> AsyncIterator[Lab]:
    async with AsyncExitStack() as stack:
        state = stack.enter_context(tempfile.TemporaryDirectory())
        naive_port, limit_port = free_port(), free_port()
        naive = await stack.enter_async_context(started("bench.naive", naive_port))
        await stack.enter_async_context(started("bench.limits", limit_port))
        # Pin the gateway from the start: it starts the runtime in another thread, whose affinity would not change
        # later.
        hawse = await stack.enter_async_context(Stack(Path(state), under=pinned()))
        os.sched_setaffinity(0, CLIENT)
        lab = Lab(naive_port, naive, limit_port, hawse)
        socket = await lab.hawse()
        lab.runtime_pid = (await socket.call("runtime.info", {}))["pid"]
        lab.screen_pid = await _screen_pid(socket, lab.runtime_pid)
        socket.close()
        await until_open(naive_port)
        yield lab


async def _screen_pid(socket: HawseSocket, runtime: int) -> int:
    """Return the pid of the screen process, which starts when a screen is first needed."""
    await socket.call("terminal.create", {"id": "first", "argv": ["true"]})
    await socket.call("terminal.screen", {"id": "first"})
    (screen,) = (
        each for each in psutil.Process(runtime).children() if "hawse_runtime.screen.emulator.process" in each.cmdline()
    )
    return screen.pid


@asynccontextmanager
async def started(module: str, port: int) -> AsyncIterator[int]:
    """Run one of the benchmark's servers, and yield its pid."""
    process = await asyncio.create_subprocess_exec(*pinned(), sys.executable, "-m", module, str(port))
    try:
        yield process.pid  # taskset replaces itself with the server
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def until_open(port: int) -> None:
    """Wait up to 10 s until the naive server accepts connections."""
    for _ in range(200):
        try:
            (await NaivePty.open(port, "true")).close()
        except OSError:
            await asyncio.sleep(0.05)
        else:
            return
    raise TimeoutError("the naive server did not accept a connection within 10 s")


def percentile(values: list[float], percent: int) -> float:
    values = sorted(values)
    return values[min(len(values) * percent // 100, len(values) - 1)]
