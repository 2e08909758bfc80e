"""`make bench`: hawse beside the naive server in one run, as a table and as build/bench.json.

A start, to be grown: echo of a key, the same beside a flood on the same socket, output, exec, small calls. Rounds are
interleaved, and the spread is shown; absolute numbers say as much of the machine as of the server.
"""

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import uvloop

from bench.drive import HawseSocket, NaivePty, Output
from tests.support.stack import Stack, free_port

ROUNDS = 5
KEYS = 500  # echoes a round
BULK = 50_000_000  # bytes of output a round
CALLS = 2000
ECHO = "stty raw -echo; printf ready; cat"
OUTPUT = f"stty raw; head -c {BULK} /dev/zero"
FLOOD = "exec yes"
READY = 5  # bytes that ECHO prints first


async def echo(send: Callable[[bytes], None], output: Output) -> list[float]:
    """Milliseconds from a key to its echo, one at a time."""
    await output.until(READY)
    times = []
    for _ in range(KEYS):
        start = time.perf_counter()
        send(b"k")
        await output.until(output.received + 1)
        times.append((time.perf_counter() - start) * 1e3)
    return times


async def bulk(output: Output) -> float:
    """MB/s from the first byte to the last."""
    await output.until(1)
    start, before = time.perf_counter(), output.received
    await output.until(BULK)
    return (output.received - before) / 1e6 / (time.perf_counter() - start)


async def naive_round(port: int) -> dict[str, float]:
    pty = await NaivePty.open(port, ECHO)
    times = await echo(pty.send, pty.output)
    pty.close()
    pty = await NaivePty.open(port, OUTPUT)
    speed = await bulk(pty.output)
    pty.close()
    return {**spread("naive echo", times), "naive output MB/s": speed}


async def hawse_round(number: int, stack: Stack) -> dict[str, float]:
    figures: dict[str, float] = {}
    hawse = await HawseSocket.open(stack.port, stack.token)
    ch = await hawse.terminal(f"echo-{number}", ECHO)
    figures |= spread("hawse echo", await echo(lambda data: hawse.send(ch, data), hawse.outputs[ch]))
    flood = await hawse.terminal(f"flood-{number}", FLOOD)
    await hawse.outputs[flood].until(10_000_000)
    hawse.outputs[ch].received = READY
    figures |= spread("hawse echo beside a flood", await echo(lambda data: hawse.send(ch, data), hawse.outputs[ch]))
    for name in ("echo", "flood"):
        await hawse.call("terminal.kill", {"id": f"{name}-{number}"})
    bulky = await hawse.terminal(f"bulk-{number}", OUTPUT)
    figures["hawse output MB/s"] = await bulk(hawse.outputs[bulky])
    execs = []
    for _ in range(100):
        start = time.perf_counter()
        await hawse.call("exec", {"argv": ["true"]})
        execs.append((time.perf_counter() - start) * 1e3)
    figures |= spread("exec true", execs)
    start = time.perf_counter()
    for at in range(0, CALLS, 200):
        await asyncio.gather(*(hawse.call("runtime.info", {}) for _ in range(at, at + 200)))
    figures["calls /s"] = CALLS / (time.perf_counter() - start)
    hawse.close()
    return figures


def spread(name: str, times: list[float]) -> dict[str, float]:
    times = sorted(times)
    return {f"{name} p50 ms": times[len(times) // 2], f"{name} p99 ms": times[len(times) * 99 // 100]}


async def main() -> None:
    naive_port = free_port()
    naive = await asyncio.create_subprocess_exec(sys.executable, "-m", "bench.naive", str(naive_port))
    try:
        with tempfile.TemporaryDirectory() as state:
            async with Stack(Path(state)) as stack:
                pin(naive.pid, stack)
                await until_open(naive_port)
                rounds = [await naive_round(naive_port) | await hawse_round(n, stack) for n in range(ROUNDS)]
    finally:
        naive.kill()
        await naive.wait()
    report(rounds)


def pin(naive: int, stack: Stack) -> None:
    """The client on one core, the servers and what they start on the others, where there are several."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) > 1:
        os.sched_setaffinity(0, cores[:1])
        for pid in (naive, stack.pid):
            os.sched_setaffinity(pid, cores[1:])


async def until_open(port: int) -> None:
    """Until the naive server answers, for 5 s."""
    for _ in range(100):
        try:
            (await NaivePty.open(port, "true")).close()
        except OSError:
            await asyncio.sleep(0.05)
        else:
            return


def report(rounds: list[dict[str, float]]) -> None:
    summary = {}
    print(f"{'figure':36} {'median':>10} {'min':>10} {'max':>10}")
    for name in rounds[0]:
        values = [figures[name] for figures in rounds]
        summary[name] = {"median": statistics.median(values), "min": min(values), "max": max(values)}
        print(f"{name:36} {statistics.median(values):10.3f} {min(values):10.3f} {max(values):10.3f}")
    medians = {name: entry["median"] for name, entry in summary.items()}
    for name, unit in (("echo p50", " ms"), ("echo p99", " ms"), ("output", " MB/s")):
        print(f"{name}, hawse of naive: {medians[f'hawse {name}{unit}'] / medians[f'naive {name}{unit}']:.2f} x")
    path = Path("build/bench.json")
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"rounds": rounds, "summary": summary}, indent=1))


if __name__ == "__main__":
    uvloop.run(main())
