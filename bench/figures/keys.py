"""The time from a key to its echo, while idle and while another terminal prints continuously."""

import asyncio
import time
from collections.abc import Callable

from picows import WSMsgType, ws_connect

from bench.drive import Listener, NaivePty, Output
from bench.lab import Figures, Lab, cpu, percentile

KEYS = 1000  # number of echoes per round
ECHO = "stty raw -echo; printf ready; exec cat"
READY = len("ready")
CPU = "echo, CPU µs a key"  # CPU time of the servers
FLOOD = "exec yes"
FLOODED = 5_000_000  # bytes of the flood received before the first key is sent


async def echo(lab: Lab, number: int) -> Figures:
    limit = Output()
    transport, _ = await ws_connect(lambda: Listener(lambda text: None, limit.put), f"ws://127.0.0.1:{lab.limit}/echo")
    figures = spread("echo", "limit", await times(lambda key: transport.send(WSMsgType.BINARY, key), limit))
    transport.disconnect()

    naive = await NaivePty.open(lab.naive, ECHO)
    await naive.output.until(READY)
    before = cpu(lab.naive_pid)
    figures |= spread("echo", "naive", await times(naive.send, naive.output))
    figures[CPU, "naive"] = (cpu(lab.naive_pid) - before) / KEYS * 1e6
    naive.close()

    hawse = await lab.hawse()
    ch = await hawse.terminal(f"echo-{number}", ECHO)
    await hawse.outputs[ch].until(READY)
    before = cpu(*lab.hawse_pids)
    figures |= spread("echo", "hawse", await times(lambda key: hawse.send(ch, key), hawse.outputs[ch]))
    figures[CPU, "hawse"] = (cpu(*lab.hawse_pids) - before) / KEYS * 1e6
    await hawse.call("terminal.kill", {"id": f"echo-{number}"})
    hawse.close()
    return figures


async def beside_a_flood(lab: Lab, number: int) -> Figures:
    """Measure hawse with both terminals on one socket, then on two. The naive server always uses two sockets."""
    naive_flood = await NaivePty.open(lab.naive, FLOOD)
    await naive_flood.output.until(FLOODED)
    naive = await NaivePty.open(lab.naive, ECHO)
    await naive.output.until(READY)
    figures = spread("echo beside a flood", "naive", await times(naive.send, naive.output))
    naive_flood.close()
    naive.close()

    hawse = await lab.hawse()
    flood = await hawse.terminal(f"flood-{number}", FLOOD)
    ch = await hawse.terminal(f"beside-{number}", ECHO)
    await hawse.outputs[flood].until(FLOODED)
    await hawse.outputs[ch].until(READY)
    figures |= spread("echo beside a flood", "hawse", await times(lambda key: hawse.send(ch, key), hawse.outputs[ch]))
    other = await lab.hawse()
    own = await other.terminal(f"own-{number}", ECHO)
    await other.outputs[own].until(READY)
    name = "echo beside a flood, own socket"
    figures |= spread(name, "hawse", await times(lambda key: other.send(own, key), other.outputs[own]))
    other.close()
    for name in ("flood", "beside", "own"):
        await hawse.call("terminal.kill", {"id": f"{name}-{number}"})
    hawse.close()
    return figures


DISPLAYS = "while True: display({'text/plain': 'x' * 500_000, 'text/html': 'y' * 1000}, raw=True)"


async def beside_code(lab: Lab, number: int) -> Figures:
    """Measure while a code run displays output as fast as it can, on the same socket."""
    hawse = await lab.hawse()
    ch = await hawse.terminal(f"coded-{number}", ECHO)
    await hawse.outputs[ch].until(READY)
    await hawse.call("code.create", {"id": f"flood-{number}"})
    running = hawse.call("code.run", {"context": f"flood-{number}", "source": DISPLAYS})
    while (await hawse.call("code.get", {"context": f"flood-{number}"}))["running"] is None:
        pass
    await asyncio.sleep(1)  # until the run has reached full speed
    found = spread("echo beside displays", "hawse", await times(lambda key: hawse.send(ch, key), hawse.outputs[ch]))
    await hawse.call("code.delete", {"context": f"flood-{number}"})
    await running
    await hawse.call("terminal.kill", {"id": f"coded-{number}"})
    hawse.close()
    return found


async def times(send: Callable[[bytes], None], output: Output, keys: int = KEYS, pause: float = 0.0) -> list[float]:
    """Return the milliseconds from each key to its echo. Keys are sent one at a time."""
    found = []
    for _ in range(keys):
        start = time.perf_counter()
        send(b"k")
        await output.until(output.received + 1)
        found.append((time.perf_counter() - start) * 1e3)
        if pause:
            await asyncio.sleep(pause)
    return found


def spread(name: str, server: str, values: list[float]) -> Figures:
    return {(f"{name}, p50 ms", server): percentile(values, 50), (f"{name}, p99 ms", server): percentile(values, 99)}
