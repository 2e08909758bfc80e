"""Code contexts: the latency of a run, compared with jupyter_client alone; creating a context; memory of many."""

import asyncio
import sys
import time

import psutil

from bench.drive import HawseSocket
from bench.lab import Figures, Lab, percentile, pinned

RUNS, WARM = 100, 10
SOURCE = "1 + 1"
CREATIONS = 5
CONTEXTS = 100


async def code(lab: Lab, number: int) -> Figures:
    """Measure latencies. The previous round has waited until the pool is full, so new contexts find an executor."""
    direct = (await _direct())[WARM:]
    hawse = await lab.hawse()
    await hawse.call("code.create", {"id": f"bench-{number}"})
    times = []
    for _ in range(RUNS + WARM):
        start = time.perf_counter()
        await hawse.call("code.run", {"context": f"bench-{number}", "source": SOURCE})
        times.append((time.perf_counter() - start) * 1e3)
    await hawse.call("code.delete", {"context": f"bench-{number}"})
    created = []
    for n in range(CREATIONS):
        await _pool_is_full(hawse)
        start = time.perf_counter()
        await hawse.call("code.create", {"id": f"new-{n}"})
        created.append((time.perf_counter() - start) * 1e3)
        await hawse.call("code.delete", {"context": f"new-{n}"})
    hawse.close()
    return {
        ("code 1 + 1, p50 ms", "naive"): percentile(direct, 50),
        ("code 1 + 1, p50 ms", "hawse"): percentile(times[WARM:], 50),
        ("code, added ms", "hawse"): percentile(times[WARM:], 50) - percentile(direct, 50),
        ("new context, ms", "hawse"): percentile(created, 50),
    }


async def contexts(lab: Lab, number: int) -> Figures:
    """Measure the memory of many contexts, including the host's memory."""
    if number:
        return {}  # only in one round, because it starts CONTEXTS processes
    hawse = await lab.hawse()
    await asyncio.gather(*(hawse.call("code.create", {"id": f"many-{n}"}) for n in range(CONTEXTS)))
    processes = [each for each in psutil.Process(lab.runtime_pid).children(recursive=True) if each.is_running()]
    used = sum(process.memory_full_info().pss for process in processes)
    await asyncio.gather(*(hawse.call("code.delete", {"context": f"many-{n}"}) for n in range(CONTEXTS)))
    hawse.close()
    return {(f"{CONTEXTS} contexts, MiB each", "hawse"): used / CONTEXTS / (1 << 20)}


async def _pool_is_full(hawse: HawseSocket) -> None:
    while (await hawse.call("code.languages", {}))["ready"].get("python3", 0) < 1:  # noqa: ASYNC110
        await asyncio.sleep(0.2)


async def _direct() -> list[float]:
    process = await asyncio.create_subprocess_exec(
        *(*pinned(), sys.executable, "-m", "bench.limits", "code", SOURCE, str(RUNS + WARM)),
        stdout=asyncio.subprocess.PIPE,
    )
    output, _ = await process.communicate()
    return [float(each) for each in output.split()]
