"""Ctrl-C while a program floods the terminal: time to the prompt, stale output, and memory growth of the servers."""

import asyncio
import time

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from bench.figures.calls import PROMPT, SHELL
from bench.lab import Figures, Lab, memory
from hawse.wire import Connection, Data, Role
from hawse.wire.frames import Kind

FAST = 20_000_000  # bytes of the flood before the key is sent, for a fast reader
RATE = 1_000_000  # bytes per second of a slow reader, as on a bad connection
SLOW = 1_500_000
WINDOW = 512 << 10
GRANT = 64 << 10  # bytes per credit grant of a browser


async def interrupt(lab: Lab, number: int) -> Figures:
    hawse = await lab.hawse()
    name = f"interrupt-{number}"
    ch = await hawse.terminal(name, SHELL, keep=len(PROMPT))
    output = hawse.outputs[ch]
    await output.until_ends_with(PROMPT)
    hawse.send(ch, b"yes\n")
    await output.until(FAST)
    start = time.perf_counter()
    hawse.send(ch, b"\x03")
    await output.until_ends_with(PROMPT)
    took = (time.perf_counter() - start) * 1e3
    await hawse.call("terminal.kill", {"id": name})
    hawse.close()
    slow, stale, grown = await _slowly(lab, f"slow-{number}")
    return {
        ("Ctrl-C in a flood, ms", "hawse"): took,
        ("Ctrl-C in a flood, 1 MB/s reader, ms", "hawse"): slow * 1e3,
        ("stale output, 1 MB/s reader, KiB", "hawse"): stale / 1024,
        ("growth, 1 MB/s reader, MiB", "hawse"): grown / (1 << 20),
    }


async def _slowly(lab: Lab, name: str) -> tuple[float, int, int]:
    """Return the seconds until the prompt, the stale bytes, and the memory growth of the servers in bytes."""
    uri = f"ws://127.0.0.1:{lab.stack.port}/v1/connect"
    headers = {"Authorization": f"Bearer {lab.stack.token}"}
    async with connect(
        uri,
        subprotocols=[Subprotocol("hawse.v1")],
        additional_headers=headers,
        compression=None,
        max_size=None,
        max_queue=1,
    ) as socket:
        viewer = SlowViewer(socket)
        viewer.connection.send_hello("slow")
        await viewer.until(lambda: viewer.connection.ready)
        before = memory(*lab.hawse_pids)
        await viewer.call("terminal.create", {"id": name, "argv": ["/bin/sh", "-c", SHELL]})
        ch = await viewer.call("terminal.attach", {"id": name, "input": name, "emulator": True})
        await viewer.until(lambda: viewer.tail.endswith(PROMPT))
        await viewer.send(ch, b"yes\n")
        await viewer.until(lambda: viewer.received > SLOW)
        received, start = viewer.received, time.perf_counter()
        await viewer.send(ch, b"\x03")
        await viewer.until(lambda: viewer.tail.endswith(PROMPT))
        took, stale, grown = time.perf_counter() - start, viewer.received - received, memory(*lab.hawse_pids) - before
        await viewer.send(ch, b"exit\n")
        await viewer.until(lambda: ch not in viewer.connection.channels)
    return took, stale, grown


class SlowViewer:
    """Reads RATE bytes per second from its socket, and grants credit for them."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.connection = Connection(Role.CLIENT, window=WINDOW)
        self.received = 0
        self.tail = b""
        self._unreturned = 0
        self._sent = 0
        self._ready = 0.0  # the time when all received bytes will count as read

    async def until(self, condition) -> None:
        await self._flush()
        while not condition():
            await self._step()

    async def call(self, method: str, params: dict[str, object]) -> int:
        ch = self.connection.call(method, params, sandbox="local")
        await self._flush()
        return ch

    async def send(self, ch: int, data: bytes) -> None:
        self.connection.send_data(ch, Kind.INPUT, self._sent, data)
        self._sent += len(data)
        await self._flush()

    async def _flush(self) -> None:
        for message in self.connection.data_to_send():
            await self._socket.send(message)

    async def _step(self) -> None:
        """Receive one message, at a rate of RATE bytes per second."""
        message = await self._socket.recv()
        if isinstance(message, str):
            self.connection.receive_text(message)
        else:
            now = time.perf_counter()
            self._ready = max(self._ready, now) + len(message) / RATE
            await asyncio.sleep(self._ready - now)
            self.connection.receive_data(message)
        for event in self.connection.events():
            if isinstance(event, Data):
                self.received += len(event.payload)
                self.tail = (self.tail + bytes(event.payload))[-len(PROMPT) :]
                self._unreturned += len(event.payload)
                if self._unreturned >= GRANT:
                    self.connection.grant(event.ch, self._unreturned)
                    self._unreturned = 0
        await self._flush()
