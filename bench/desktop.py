"""Measures the time from a click on a desktop until a viewer receives the changed pixels: `python -m bench.desktop`.

A viewer attaches through the gateway. It clicks on two windows alternately, so that each click moves the focus and
changes both title bars, and waits for the next update of the screen. The target is 60 ms.
"""

import asyncio
import struct
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

import hawse
from hawse.client.desktop import DesktopConnection
from tests.support.stack import Stack

CLICKS = 100
SIZE = (1280, 800)
HANDSHAKE = b"RFB 003.008\n\x01\x01"
CURSOR = -239  # the viewer draws the pointer, so moving it changes no pixels
ENCODINGS = struct.pack(">BxHii", 2, 2, 0, CURSOR)
PLACES = ((200, 300), (900, 300))


class Reader:
    """Reads exact numbers of bytes from a connection."""

    def __init__(self, stream: DesktopConnection) -> None:
        self._stream = stream
        self._buffer = bytearray()

    async def read(self, size: int) -> bytes:
        while len(self._buffer) < size:
            self._buffer += await self._stream.read()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data

    async def update(self) -> int:
        """Read one update of the screen. Return the number of its pixels."""
        pixels = 0
        (count,) = struct.unpack(">xxH", await self.read(4))
        for _ in range(count):
            *_, width, height, encoding = struct.unpack(">4Hi", await self.read(12))
            await self.read(4 * width * height)
            if encoding == CURSOR:
                await self.read((width + 7) // 8 * height)
            else:
                pixels += width * height
        return pixels


async def measure(stream: DesktopConnection) -> list[float]:
    """Return the seconds from each click to the changed pixels."""
    reader = Reader(stream)
    await stream.write(HANDSHAKE + ENCODINGS)
    await reader.read(12 + 2 + 4)
    (name,) = struct.unpack(">20xI", await reader.read(24))
    await reader.read(name)
    await stream.write(struct.pack(">BB4H", 3, 0, 0, 0, *SIZE))
    await reader.update()
    taken = []
    for number in range(CLICKS):
        x, y = PLACES[number % 2]
        await stream.write(struct.pack(">BB4H", 3, 1, 0, 0, *SIZE))
        begun = time.perf_counter()
        await stream.write(b"".join(struct.pack(">BBHH", 5, buttons, x, y) for buttons in (0, 1, 0)))
        while not await reader.update():
            await stream.write(struct.pack(">BB4H", 3, 1, 0, 0, *SIZE))
        taken.append(time.perf_counter() - begun)
        await asyncio.sleep(0.1)  # until the screen shows the effect of this click completely
        await stream.write(struct.pack(">BB4H", 3, 0, 0, 0, *SIZE))
        while not await reader.update():
            await stream.write(struct.pack(">BB4H", 3, 1, 0, 0, *SIZE))
    return taken


async def main() -> None:
    async with Stack(Path(tempfile.mkdtemp()) / "state") as stack, hawse.connect(stack.base, token=stack.token) as hw:
        desktop = hw.sandbox().desktop
        await desktop.start(width=SIZE[0], height=SIZE[1])
        for x in (20, 700):
            await desktop.launch(["xterm", "-geometry", f"60x24+{x}+100"])
        while len(await desktop.windows()) < 2:  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await asyncio.sleep(1)
        async with desktop.connect() as stream:
            taken = await measure(stream)
        await desktop.stop()
    print(f"click to changed pixel: p50 {median(taken) * 1000:.1f} ms, p95 {quantiles(taken, n=20)[-1] * 1000:.1f} ms")


if __name__ == "__main__":
    asyncio.run(main())
