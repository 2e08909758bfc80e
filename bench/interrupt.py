"""Ctrl-C under a flood: how long to the prompt, how much stale output, how much the servers grow.

The slow client takes RATE bytes a second from its socket, as a person on a bad line does.
"""

import asyncio
import os
import statistics
import tempfile
from pathlib import Path

import psutil
from websockets.asyncio.client import connect

from hawse.wire import Connection, Data, FairWriter, Role
from hawse.wire.frames import Kind
from tests.support.stack import Stack

RATE = 1_000_000  # bytes a second
ROUNDS = int(os.environ.get("N", "20"))
WINDOW = 512 << 10
PROMPT = b"PROMPT> "


class SlowViewer:
    """A viewer that reads at `rate` and grants what it has read."""

    def __init__(self, socket, rate: float | None) -> None:
        self._socket = socket
        self._rate = rate
        self.connection = Connection(Role.CLIENT, window=WINDOW)
        self.writer = FairWriter(self.connection)
        self.received = 0
        self._owed = 0
        self._input = 0
        self.tail = b""
        self._ready = 0.0

    async def flush(self) -> None:
        for message in self.writer.take(1 << 16):
            await self._socket.send(message)

    async def step(self) -> None:
        """Take one message, in the time that its size takes."""
        message = await self._socket.recv()
        loop = asyncio.get_running_loop()
        if isinstance(message, str):
            self.connection.receive_text(message)
        else:
            if self._rate:
                self._ready = max(self._ready, loop.time()) + len(message) / self._rate
                await asyncio.sleep(max(0.0, self._ready - loop.time()))
            self.connection.receive_data(message)
        for event in self.connection.events():
            if isinstance(event, Data):
                self.received += len(event.payload)
                self.tail = (self.tail + bytes(event.payload))[-256:]
                self._owed += len(event.payload)
                if self._owed >= 1 << 16:
                    self.connection.grant(event.ch, self._owed)
                    self._owed = 0
        await self.flush()

    async def call(self, method: str, params: dict) -> int:
        ch = self.connection.call(method, params, sandbox="local")
        await self.flush()
        return ch

    async def send(self, ch: int, data: bytes) -> None:
        self.connection.send_data(ch, Kind.INPUT, self._input, data)
        self._input += len(data)
        await self.flush()


def memory(stack: Stack) -> int:
    (runtime,) = stack.runtimes()
    return int(psutil.Process(stack.pid).memory_info().rss + runtime.memory_info().rss)


async def one(stack: Stack, name: str, rate: float | None, warm: int) -> tuple[float, int, int]:
    """(seconds to the prompt, stale bytes, bytes the servers grew) of one interrupt after `warm` bytes were read."""
    headers = {"Authorization": f"Bearer {stack.token}"}
    uri = f"ws://127.0.0.1:{stack.port}/v1/connect"
    async with connect(
        uri, subprotocols=["hawse.v1"], additional_headers=headers, compression=None, max_size=None, max_queue=1
    ) as socket:
        viewer = SlowViewer(socket, rate)
        viewer.connection.send_hello("slow")
        await viewer.flush()
        while not viewer.connection.ready:
            await viewer.step()
        await viewer.call("terminal.create", {"id": name, "argv": ["bash", "--norc"], "env": {"PS1": PROMPT.decode()}})
        ch = await viewer.call("terminal.attach", {"id": name, "input": name, "emulator": True})
        while PROMPT not in viewer.tail:
            await viewer.step()
        before = memory(stack)
        await viewer.send(ch, b"yes\n")
        while viewer.received < warm:
            await viewer.step()
        loop = asyncio.get_running_loop()
        stale, start = viewer.received, loop.time()
        await viewer.send(ch, b"\x03")
        while PROMPT not in viewer.tail:
            await viewer.step()
        took, stale = loop.time() - start, viewer.received - stale
        grown = memory(stack) - before
        await viewer.send(ch, b"exit\n")
        while ch in viewer.connection.channels:
            await viewer.step()
        return took, stale, grown


async def main() -> None:
    with tempfile.TemporaryDirectory() as state:
        async with Stack(Path(state)) as stack:
            await one(stack, "warm", None, 1_000_000)
            for label, rate, warm in (("fast reader", None, 20_000_000), ("1 MB/s reader", RATE, 1_500_000)):
                results = [await one(stack, f"{label[0]}{n}", rate, warm) for n in range(ROUNDS)]
                times = sorted(took * 1e3 for took, _, _ in results)
                print(
                    f"{label}: to the prompt {statistics.median(times):.1f} ms (max {times[-1]:.1f}), "
                    f"stale {max(stale for _, stale, _ in results)} B at most, "
                    f"grown {max(grown for *_, grown in results) / 2**20:.1f} MiB at most"
                )


if __name__ == "__main__":
    asyncio.run(main())
