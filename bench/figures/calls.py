"""Calls: the latency of `exec`, the rate of small concurrent calls, and the time from connecting to the prompt."""

import asyncio
import time

from bench.drive import NaivePty
from bench.lab import Figures, Lab, percentile

EXECS = 100
CALLS, AT_ONCE = 4000, 200
PROMPT = b"PROMPT> "
SHELL = f"PS1='{PROMPT.decode()}' exec bash --norc --noprofile"


async def calls(lab: Lab, number: int) -> Figures:
    hawse = await lab.hawse()
    execs = []
    for _ in range(EXECS):
        start = time.perf_counter()
        await hawse.call("exec", {"argv": ["true"]})
        execs.append((time.perf_counter() - start) * 1e3)
    start = time.perf_counter()
    for _ in range(CALLS // AT_ONCE):
        await asyncio.gather(*(hawse.call("runtime.info", {}) for _ in range(AT_ONCE)))
    speed = CALLS / (time.perf_counter() - start)
    hawse.close()
    return {("exec true, p50 ms", "hawse"): percentile(execs, 50), ("calls, /s", "hawse"): speed}


async def prompt(lab: Lab, number: int) -> Figures:
    start = time.perf_counter()
    naive = await NaivePty.open(lab.naive, SHELL, keep=len(PROMPT))
    await naive.output.until_ends_with(PROMPT)
    figures: Figures = {("connect to prompt, ms", "naive"): (time.perf_counter() - start) * 1e3}
    naive.close()
    start = time.perf_counter()
    hawse = await lab.hawse()
    ch = await hawse.terminal(f"prompt-{number}", SHELL, keep=len(PROMPT))
    await hawse.outputs[ch].until_ends_with(PROMPT)
    figures["connect to prompt, ms", "hawse"] = (time.perf_counter() - start) * 1e3
    await hawse.call("terminal.kill", {"id": f"prompt-{number}"})
    hawse.close()
    return figures
