"""Measures how screens affect other terminals: echo during coloured output and page reloads; time of a snapshot.

`python -m bench.screens [FOLDER]` starts a runtime. FOLDER contains other versions of `runtime` and `hawse` to compare
with, in alternating rounds. CPU times are read from /proc, because latencies depend on the machine's load. Compare
ratios within one run only.
"""

import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import psutil
import uvloop

from bench.corpora import corpus
from tests.support.runtime import Channel, Client

ROUNDS = 3
KEYS = 300  # keys in each of the two situations of a round
PAUSE = 0.01  # seconds between keys
PRINTERS = 20
RELOADS = 5
ROOT = Path(__file__).resolve().parent.parent
# Prints 100 KB/s of a log from a file; 15 % of its lines are coloured.
PRINTER = """
import itertools, os, sys, time
text = open(sys.argv[1], "rb").read()
for at in itertools.count(0, 5000):
    os.write(1, text[at % len(text) : at % len(text) + 5000])
    time.sleep(0.05)
"""
LINE = "\\033[3%dm%04d some text of a line\\033[m and more\\n"
ROWS = f"for n in $(seq 9000); do printf '{LINE}' $((n % 8)) $n; done; exec cat"


class Cpu(NamedTuple):
    """The CPU time in milliseconds of a runtime and of its screen process."""

    runtime: float
    screens: float


class Round(NamedTuple):
    """The measurements of one version in one round, in milliseconds."""

    idle: list[float]
    busy: list[float]
    busy_cpu: Cpu
    first: list[float]  # from attaching to the first byte of a snapshot
    whole: list[float]  # from attaching to its last byte
    snapshot_cpu: Cpu  # of one snapshot


def cpu(pid: int) -> Cpu:
    """Return the CPU times since the start of the processes (/proc/PID/schedstat)."""
    screens = [
        child.pid
        for child in psutil.Process(pid).children()
        if "hawse_runtime.screen.emulator.process" in child.cmdline()
    ]
    return Cpu(_milliseconds(pid), sum(map(_milliseconds, screens)))


def _milliseconds(pid: int) -> float:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e6


@asynccontextmanager
async def runtime(folder: Path) -> AsyncIterator[tuple[Client, Client, int]]:
    """Start a runtime. Yield two clients and the runtime's pid."""
    with tempfile.TemporaryDirectory() as place:
        socket = Path(place) / "socket"
        environment = os.environ | {"PYTHONPATH": f"{folder}:{ROOT}"}
        argv = [sys.executable, "-m", "hawse_runtime", "--socket", str(socket), "--workspace", f"{place}/w"]
        process = subprocess.Popen(argv, cwd=place, env=environment, stderr=subprocess.DEVNULL)  # noqa: ASYNC220
        try:
            mine, theirs = await Client().connect(socket), await Client().connect(socket)
            yield mine, theirs, process.pid
            await mine.cut()
            await theirs.cut()
        finally:
            process.terminate()
            process.wait()


async def echoes(shell: Channel) -> list[float]:
    """Return the time until the echo of each key."""
    found = []
    for _ in range(KEYS):
        size = len(shell.output)
        start = time.perf_counter()
        shell.send(b"x")
        await shell.until(lambda size=size: len(shell.output) > size)  # type: ignore[misc]
        found.append((time.perf_counter() - start) * 1e3)
        await asyncio.sleep(PAUSE)
    return found


async def reload(client: Client, window: int = 4 << 20) -> tuple[float, float]:
    """Attach in the same way as a page that is reloaded. Return the times until the snapshot's first and last byte."""
    start = time.perf_counter()
    page = client.attach("rows", window=window)
    size = (await page.event("opened"))["screen"]
    first = time.perf_counter()
    await page.until(lambda: len(page.screen) >= size)
    whole = time.perf_counter()
    page.cancel()
    await page.refusal()
    return (first - start) * 1e3, (whole - start) * 1e3


async def one_round(folder: Path, log: Path) -> Round:
    async with runtime(folder) as (mine, theirs, pid):
        typing = await mine.terminal("stty raw -echo; echo ready; exec cat", "typing")
        await typing.seen(b"ready")
        idle = await echoes(typing)
        rows = await theirs.terminal(ROWS, "rows")
        await rows.seen(b"9000 some text")
        await reload(theirs)
        before = cpu(pid)
        times = []
        for _ in range(RELOADS):
            rows.send(b"y")  # changes the screen, so that a new snapshot is needed
            times.append(await reload(theirs))
        after = cpu(pid)
        command = shlex.join(["exec", sys.executable, "-c", PRINTER, str(log)])
        printers = [await theirs.terminal(command, f"p{n}") for n in range(PRINTERS)]
        for printer in printers:
            await printer.until(lambda printer=printer: len(printer.output) > 10_000)  # type: ignore[misc]
        async with asyncio.TaskGroup() as tasks:
            reloading = tasks.create_task(_reload_each_second(theirs))
            busy_before, start = cpu(pid), time.perf_counter()
            busy = await echoes(typing)
            took = time.perf_counter() - start
            busy_after = cpu(pid)
            reloading.cancel()
        return Round(
            idle,
            busy,
            Cpu(*((b - a) / took for a, b in zip(busy_before, busy_after, strict=True))),
            [first for first, _ in times],
            [whole for _, whole in times],
            Cpu(*((b - a) / RELOADS for a, b in zip(before, after, strict=True))),
        )


async def _reload_each_second(client: Client) -> None:
    while True:
        await reload(client)
        await asyncio.sleep(1)


def show(name: str, rounds: list[Round]) -> None:
    """Print the medians of the rounds."""
    idle, busy = [_p99(one.idle) for one in rounds], [_p99(one.busy) for one in rounds]
    ratio = median(b / a for a, b in zip(idle, busy, strict=True))
    print(name)
    print(f"  echo, p50 ms: idle {_mid([r.idle for r in rounds])}, busy {_mid([r.busy for r in rounds])}")
    print(f"  echo, p99 ms: idle {median(idle):.2f}, busy {median(busy):.2f}: {ratio:.1f} times")
    print(f"  a page that loads anew, ms: first byte {_mid([r.first for r in rounds])}", end="")
    print(f", all {_mid([r.whole for r in rounds])}")
    for what, found in (
        ("one page", [r.snapshot_cpu for r in rounds]),
        ("a second, busy", [r.busy_cpu for r in rounds]),
    ):
        runtime_, screens = median(one.runtime for one in found), median(one.screens for one in found)
        print(f"  processor ms, {what}: runtime {runtime_:.1f}, screen process {screens:.1f}")


def _p99(values: list[float]) -> float:
    return sorted(values)[len(values) * 99 // 100]


def _mid(rounds: list[list[float]]) -> str:
    return f"{median(map(median, rounds)):.2f}"


async def main() -> None:
    versions = {str(folder): folder for folder in (ROOT, *map(Path, sys.argv[1:]))}
    rounds: dict[str, list[Round]] = {name: [] for name in versions}
    with tempfile.NamedTemporaryFile() as file:
        file.write(corpus("log", 1_000_000).replace(b"\r", b""))
        file.flush()
        for _ in range(ROUNDS):
            for name, folder in versions.items():
                rounds[name].append(await one_round(folder, Path(file.name)))
    for name, found in rounds.items():
        show(name, found)
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")


if __name__ == "__main__":
    uvloop.run(main())
