"""500 terminals: memory per terminal, CPU use while idle, and latency while fifty of them are in use."""

import asyncio
import time
from collections.abc import Callable
from typing import NamedTuple

from bench.drive import NaivePty, Output
from bench.figures.keys import ECHO, READY, times
from bench.lab import Figures, Lab, cpu, memory, percentile

TERMINALS = 500
MEMORY = "500 terminals, KiB each"
IDLE = 3.0  # seconds of the measurement of CPU use
TYPISTS = 50
KEYS = 60  # keys per typist
PAUSE = 1 / 20  # seconds between keys


async def many(lab: Lab, number: int) -> Figures:
    figures = await _naive(lab) | await _hawse(lab, number)
    # Measure memory in the first round only, because later rounds reuse its memory.
    return figures if number == 0 else {key: value for key, value in figures.items() if key[0] != MEMORY}


async def _naive(lab: Lab) -> Figures:
    before = memory(lab.naive_pid)
    ptys = [await NaivePty.open(lab.naive, ECHO) for _ in range(TERMINALS)]
    for pty in ptys:
        await pty.output.until(READY)
    each = (memory(lab.naive_pid) - before) / TERMINALS / 1024
    idle = await _idle(lab.naive_pid)
    typing = await _typing([(pty.send, pty.output) for pty in ptys[:TYPISTS]], lab.naive_pid)
    for pty in ptys:
        pty.close()
    return _figures("naive", each, idle, typing)


async def _hawse(lab: Lab, number: int) -> Figures:
    """Open one socket for each of fifty clients, and one socket for all other terminals."""
    before = memory(*lab.hawse_pids)
    sockets = [await lab.hawse() for _ in range(TYPISTS + 1)]
    ends: list[tuple[Callable[[bytes], None], Output]] = []
    for index in range(TERMINALS):
        socket = sockets[min(index, TYPISTS)]
        ch = await socket.terminal(f"many-{number}-{index}", ECHO)
        ends.append((lambda key, socket=socket, ch=ch: socket.send(ch, key), socket.outputs[ch]))  # type: ignore[misc]
    for _, output in ends:
        await output.until(READY)
    each = (memory(*lab.hawse_pids) - before) / TERMINALS / 1024
    idle = await _idle(*lab.hawse_pids)
    typing = await _typing(ends[:TYPISTS], *lab.hawse_pids)
    await asyncio.gather(
        *(sockets[-1].call("terminal.kill", {"id": f"many-{number}-{index}"}) for index in range(TERMINALS))
    )
    for socket in sockets:
        socket.close()
    return _figures("hawse", each, idle, typing)


async def _idle(*pids: int) -> float:
    """Return the CPU use of the processes over IDLE seconds, in percent of one core."""
    before = cpu(*pids)
    await asyncio.sleep(IDLE)
    return (cpu(*pids) - before) / IDLE * 100


class Typing(NamedTuple):
    """The results of typing: all echo times in ms, and the CPU use of the servers in percent of one core."""

    times: list[float]
    cpu: float


async def _typing(ends: list[tuple[Callable[[bytes], None], Output]], *pids: int) -> Typing:
    before, start = cpu(*pids), time.perf_counter()
    found = await asyncio.gather(*(times(send, output, KEYS, PAUSE) for send, output in ends))
    spent = (cpu(*pids) - before) / (time.perf_counter() - start) * 100
    return Typing([time for each in found for time in each], spent)


def _figures(server: str, each: float, idle: float, typing: Typing) -> Figures:
    return {
        (MEMORY, server): each,
        ("500 idle terminals, % of a core", server): idle,
        ("50 typists, p50 ms", server): percentile(typing.times, 50),
        ("50 typists, p99 ms", server): percentile(typing.times, 99),
        ("50 typists, % of a core", server): typing.cpu,
    }
