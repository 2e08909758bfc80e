"""Runs every kind of work at a steady rate for an hour. The memory of all server processes must become constant.

`python -m bench.churn --seconds 3600 --log build/churn.jsonl` starts a gateway with one sandbox where terminals,
commands, processes, sessions, files, watches, previews, code contexts and viewers come and go. It writes the memory of
each process every `--every` seconds, and finally prints how much each has grown after `--warm-up`. It takes too long to
be a figure of `make bench`.
"""

import argparse
import asyncio
import json
import os
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import NamedTuple

import httpx
import psutil

import hawse
from hawse.client import Client, Sandbox
from hawse.wire import HawseError
from tests.support.http_clients import http_client
from tests.support.stack import Stack, free_port

KIB = 1 << 10
NICENESS = 5  # for the client only; the servers run at normal priority
KINDS = {
    "hawse_runtime.screen.emulator.process": "screen",
    "hawse_runtime.code.host": "host",
    "hawse_runtime": "runtime",
}
SERVER = (
    "import http.server as h;h.ThreadingHTTPServer(('127.0.0.1',{port}),h.SimpleHTTPRequestHandler).serve_forever()"
)
PAINT = r"for i in $(seq 40); do printf '\033[3%dm%s 漢字 line %d\033[0m\n' $((i%8)) x $i; done"

Step = Callable[[Sandbox, int], Awaitable[None]]


class Sample(NamedTuple):
    """One measurement.

    Attributes:
        seconds: The seconds since the start.
        memory: The resident and the proportional (PSS) bytes, by kind of process.
    """

    seconds: float
    memory: dict[str, tuple[int, int]]


async def terminals(sandbox: Sandbox, number: int) -> None:
    """Type into a shell's terminal, resize it and read it. One viewer stays, a second one leaves."""
    async with sandbox.terminals.open(f"t{number}", argv=["bash", "--norc"]) as terminal:
        async with sandbox.terminals.attach(f"t{number}", read_only=True) as second:
            await terminal.write(f"{PAINT}; echo done-$(({number}+1))\n".encode())
            await terminal.resize(60 + number % 80, 20 + number % 30)
            await terminal.expect(f"done-{number + 1}", since=0, timeout=30.0)
            await second.screen()
        await terminal.write(b"exit\n")
        await terminal.wait()


async def viewers(sandbox: Sandbox, number: int) -> None:
    """View a permanent terminal that prints continuously."""
    async with sandbox.terminals.attach("busy", read_only=bool(number % 2)) as viewer:
        read = 0
        async for data in viewer:
            read += len(data)
            if read > 64 * KIB:
                break


async def commands(sandbox: Sandbox, number: int) -> None:
    """Run a command with output. The command has a key, so its outcome is kept for retries."""
    size = (1, 1000, 20_000)[number % 3]
    result = await sandbox.exec(["head", "-c", str(size), "/dev/zero"])
    assert len(result.stdout) == size


async def processes(sandbox: Sandbox, number: int) -> None:
    process = await sandbox.processes.start(["sh", "-c", f"seq 2000; exit {number % 7}"], id=f"p{number}")
    async with process:
        assert (await process.wait()).code == number % 7


async def sessions(sandbox: Sandbox, number: int) -> None:
    async with sandbox.sessions.create(id=f"s{number}") as session:
        await session.exec(f"export N={number}; cd /tmp")
        assert (await session.exec("echo $N")).stdout.strip() == str(number).encode()


async def files(sandbox: Sandbox, number: int) -> None:
    """Write, read, list, search and delete files in a watched directory."""
    folder = f"churn-{number % 16}-{number}"
    await sandbox.files.mkdir(folder)
    async with sandbox.watches.start(folder) as watch:
        for name in range(5):
            await sandbox.files.write(f"{folder}/{name}.txt", os.urandom(10_000).hex().encode())
        await anext(aiter(watch))
        await sandbox.files.read(f"{folder}/1.txt")
        _ = [match async for match in sandbox.files.search("^0", folder)]
        _ = [entry async for entry in sandbox.files.list(folder)]
    await sandbox.files.delete(folder, recursive=True)


async def code(sandbox: Sandbox, number: int) -> None:
    async with sandbox.code.create(id=f"c{number}") as context:
        await context.run(f"x = {number}; print('y' * 2000); x")


STEPS: dict[str, tuple[Step, int, float]] = {  # the number of concurrent workers, and the seconds between their starts
    "terminals": (terminals, 2, 2.0),
    "viewers": (viewers, 2, 1.5),
    "commands": (commands, 3, 0.3),
    "processes": (processes, 2, 1.0),
    "sessions": (sessions, 1, 1.5),
    "files": (files, 1, 1.5),
    "code": (code, 1, 30.0),
}


class Churn:
    """The workers of one run. `errors` counts failures by type. Failures do not end the run."""

    def __init__(self, stack: Stack, seconds: float) -> None:
        self._stack = stack
        self.until = time.monotonic() + seconds
        self.done: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()

    async def repeat(self, name: str, work: Callable[[int], Awaitable[None]], numbers: AsyncIterator[int]) -> None:
        async for number in numbers:
            try:
                async with asyncio.timeout(120.0):
                    await work(number)
                self.done[name] += 1
            except (HawseError, TimeoutError, OSError, httpx.HTTPError, AssertionError) as error:
                self.errors[f"{name}: {type(error).__name__} {str(error)[:80]}"] += 1

    async def paced(self, numbers: "count[int]", period: float) -> AsyncIterator[int]:
        while time.monotonic() < self.until:
            started = time.monotonic()
            yield next(numbers)
            await asyncio.sleep(max(0.0, started + period - time.monotonic()))

    async def connections(self, number: int) -> None:
        """Connect a client, make one call and disconnect."""
        async with hawse.connect(self._stack.base, token=self._stack.token) as client:
            await client.sandbox().terminals.list()

    async def previews(self, client: Client, http: httpx.AsyncClient, port: int) -> None:
        """Expose a port, fetch it through its preview, and remove the preview."""
        ports = client.sandbox().ports
        preview = await ports.expose(port)
        for _ in range(3):
            (await http.get(f"/p/local/{preview.token}/")).raise_for_status()
        await ports.unexpose(port)

    async def run(self, client: Client) -> None:
        sandbox = client.sandbox()
        port = free_port()
        await sandbox.processes.start(["python3", "-c", SERVER.format(port=port)], id="server")
        busy = ["sh", "-c", f"while :; do {PAINT}; sleep 0.05; done"]
        async with (
            http_client(self._stack.base) as http,
            sandbox.terminals.open("busy", argv=["bash", "-c", busy[2]]) as terminal,
        ):
            terminal.close()
            async with asyncio.TaskGroup() as tasks:
                for name, (step, at_once, period) in STEPS.items():
                    numbers = count()
                    for _ in range(at_once):
                        work = partial(step, sandbox)
                        tasks.create_task(self.repeat(name, work, self.paced(numbers, period)))
                connections = self.repeat("connections", self.connections, self.paced(count(), 2.0))
                tasks.create_task(connections)
                previews = self.paced(count(), 2.0)
                tasks.create_task(self.repeat("previews", lambda _: self.previews(client, http, port), previews))


def memory(stack: Stack) -> dict[str, tuple[int, int]]:
    """Return the resident bytes and the PSS by kind of server process."""
    found = {"gateway": [stack.pid], "runtime": [], "screen": [], "host": []}
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            words = process.cmdline()
            kind = next((kind for module, kind in KINDS.items() if module in words), None)
            if kind is not None and _belongs(process, stack):
                found[kind].append(process.pid)
    sizes = {kind: [_rollup(pid) for pid in pids] for kind, pids in found.items()}
    return {kind: (sum(size[0] for size in each), sum(size[1] for size in each)) for kind, each in sizes.items()}


def _belongs(process: psutil.Process, stack: Stack) -> bool:
    state = str(stack.state)
    return any(state in " ".join(each.cmdline()) for each in [process, *process.parents()])


def _rollup(pid: int) -> tuple[int, int]:
    fields: dict[str, int] = {}
    with suppress(OSError):  # the process has ended
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]:
            name, _, rest = line.partition(":")
            fields[name] = int(rest.split()[0]) * KIB
    return fields.get("Rss", 0), fields.get("Pss", 0)


async def sample(stack: Stack, churn: Churn, every: float, log: Path) -> list[Sample]:
    """Take a sample every `every` seconds until the churn ends. Append each sample to a file."""
    samples: list[Sample] = []
    started = time.monotonic()
    with await asyncio.to_thread(log.open, "w", buffering=1) as file:
        while (now := time.monotonic()) < churn.until:
            found = Sample(now - started, await asyncio.to_thread(memory, stack))
            samples.append(found)
            more = {"load": os.getloadavg()[0], "done": churn.done, "errors": churn.errors}
            file.write(json.dumps(found._asdict() | more) + "\n")
            await asyncio.sleep(min(every, max(0.0, churn.until - time.monotonic())))
    return samples


async def measure(args: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        stack = Stack(Path(folder), isolation=args.isolation)
        if args.port:
            stack.port = args.port
        async with stack, hawse.connect(stack.base, token=stack.token) as client:
            os.nice(NICENESS)
            churn = Churn(stack, args.seconds)
            async with asyncio.TaskGroup() as tasks:
                sampling = tasks.create_task(sample(stack, churn, args.every, args.log))
                await churn.run(client)
        report(sampling.result(), args.warm_up)
        print("done:", dict(churn.done))
        print("errors:", dict(churn.errors))


def report(samples: list[Sample], warm_up: float) -> None:
    """Print the PSS of each kind of process after the warm-up, and the means of the first and the second half."""
    later = [each for each in samples if each.seconds >= warm_up] or samples
    for kind in later[0].memory:
        sizes = [each.memory[kind][1] / KIB / KIB for each in later]
        half = max(1, len(sizes) // 2)
        first, last = sum(sizes[:half]) / half, sum(sizes[-half:]) / half
        print(f"{kind:8} PSS {sizes[0]:6.1f} → {sizes[-1]:6.1f} MiB, at most {max(sizes):6.1f}; ", end="")
        print(f"mean of the first half {first:6.1f}, of the second {last:6.1f}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.churn", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--warm-up", type=float, default=900.0, help="seconds that the report excludes")
    parser.add_argument("--every", type=float, default=30.0, help="seconds between samples")
    parser.add_argument("--isolation", default="none")
    parser.add_argument("--port", type=int, default=0, help="port of the gateway (default: a free port)")
    parser.add_argument("--log", type=Path, default=Path("build/churn.jsonl"))
    args = parser.parse_args()
    args.log.parent.mkdir(exist_ok=True, parents=True)
    asyncio.run(measure(args))


if __name__ == "__main__":
    main()
