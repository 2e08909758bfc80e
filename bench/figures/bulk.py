"""Throughput: the output of a terminal with one viewer and with twenty viewers, and the replay after a reattach."""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.corpora import corpus
from bench.drive import NaivePty, Output
from bench.lab import Figures, Lab, cpu

BULK = 60_000_000  # bytes of output per round
LINE = "the quick brown fox jumps over the lazy dog, and again over it"
COLOURED = LINE.replace("brown fox", "\x1b[33mbrown\x1b[0m fox")  # makes the screen tracker parse all of it
# The program waits for a key, so that all viewers are attached when its output starts.
GATE = "stty -echo -icanon min 1; printf ready; dd bs=1 count=1 status=none >/dev/null; "
COMMANDS = {
    "raw": f"{GATE}stty raw; yes '{LINE}\r' | head -c {BULK}",
    "cooked": f"{GATE}yes '{LINE}' | head -c {BULK}",
    "coloured": f"{GATE}yes '{COLOURED}' | head -c {BULK}",
}
READY = len("ready")
# In a cooked terminal, each LF becomes CR LF.
TOTALS = {"raw": BULK, "cooked": BULK + BULK // (len(LINE) + 1), "coloured": BULK + BULK // (len(COLOURED) + 1)}
VIEWERS = 20
LOG = 4_000_000  # bytes of a log
TIMES = 8  # number of times the log is printed
SEEN, PRINTED = 400_000, 1_000_000


async def output(lab: Lab, number: int) -> Figures:
    figures: Figures = {}
    for mode, command in COMMANDS.items():
        limit_command = command.removeprefix(GATE)
        speed, spent = await lab.read_pty(limit_command)
        figures |= {(f"output {mode}, MB/s", "limit"): speed, (f"CPU {mode}, s / 100 MB", "limit"): spent}

        naive = await NaivePty.open(lab.naive, command)
        figures |= await measured(mode, TOTALS[mode], "naive", naive.output, partial(naive.send, b"k"), lab.naive_pid)
        naive.close()

        hawse = await lab.hawse()
        ch = await hawse.terminal(f"{mode}-{number}", command)
        figures |= await measured(
            mode, TOTALS[mode], "hawse", hawse.outputs[ch], partial(hawse.send, ch, b"k"), *lab.hawse_pids
        )
        hawse.close()
    return figures


async def measured(mode: str, total: int, server: str, output: Output, go: Callable[[], None], *pids: int) -> Figures:
    """Return the rate from the first to the last byte, and the CPU time used by the processes `pids`.

    Args:
        mode: The suffix of the figures' names.
        total: The number of bytes of output after `READY`.
        server: The column of the figures in the table.
        output: The output of a program that waits for a key (see `GATE`).
        go: Sends the key.
        pids: The processes of the server.
    """
    await output.until(READY)
    goal = READY + total
    before = cpu(*pids)
    go()
    await output.until(READY + 1)
    start, first = time.perf_counter(), output.received
    await output.until(goal)
    took = time.perf_counter() - start
    spent = (cpu(*pids) - before) / total * 1e8
    return {
        (f"output {mode}, MB/s", server): (output.received - first) / 1e6 / took,
        (f"CPU {mode}, s / 100 MB", server): spent,
    }


async def viewers(lab: Lab, number: int) -> Figures:
    with TemporaryDirectory() as folder:
        command = GATE + "stty raw; exec cat" + f" {_log(folder)}" * TIMES
        alone, spent = await _shared(lab, f"shared-{number}", command, stalled=0)
        beside, _ = await _shared(lab, f"stalled-{number}", command, stalled=1)
    return {
        ("20 viewers, MB/s", "hawse"): alone,
        ("20 viewers, CPU s / 100 MB", "hawse"): spent,
        ("20 viewers beside a stalled one, of alone", "hawse"): beside / alone,
    }


def _log(folder: str) -> Path:
    log = Path(folder, "log")
    log.write_bytes(corpus("log", LOG))
    return log


async def _shared(lab: Lab, name: str, command: str, *, stalled: int) -> tuple[float, float]:
    """Return the total MB/s received by VIEWERS viewers of a terminal, and both servers' CPU seconds per 100 MB."""
    first = await lab.hawse()
    ch = await first.terminal(name, command)
    others = [await lab.hawse() for _ in range(VIEWERS - 1 + stalled)]
    for other in others:
        await other.outputs[other.attach(name)].until(READY)
    await first.outputs[ch].until(READY)
    for other in others[:stalled]:
        other.stop_reading()
    reading = [first, *others[stalled:]]
    before, start = cpu(*lab.hawse_pids), time.perf_counter()
    first.send(ch, b"k")
    await asyncio.gather(*(socket.ended() for socket in reading))
    took, spent = time.perf_counter() - start, cpu(*lab.hawse_pids) - before
    total = sum(output.received for socket in reading for output in socket.outputs.values())
    for socket in (first, *others):
        socket.close()
    return total / 1e6 / took, spent / total * 1e8


async def reattach(lab: Lab, number: int) -> Figures:
    """Reattach after SEEN bytes. Measures the time from the new connection to the last byte, and compares the bytes."""
    name, command = f"reattach-{number}", f"stty raw; seq 1000000 | head -c {PRINTED}; exec cat"
    hawse = await lab.hawse()
    ch = await hawse.terminal(name, command)
    await hawse.outputs[ch].until(PRINTED)
    hawse.close()

    start = time.perf_counter()
    again = await lab.hawse()
    ch = again.attach(name, since=SEEN, keep=PRINTED)
    assert await again.opened(ch) == "resume"
    await again.outputs[ch].until(PRINTED - SEEN)
    took = (time.perf_counter() - start) * 1e3
    right = "".join(f"{n}\n" for n in range(1, 200_000)).encode()[SEEN:PRINTED]
    wrong = 0 if again.outputs[ch].tail == right else abs(len(right) - len(again.outputs[ch].tail)) or 1
    await again.call("terminal.kill", {"id": name})
    again.close()
    return {("reattach, ms", "hawse"): took, ("reattach, bytes lost or doubled", "hawse"): wrong}
