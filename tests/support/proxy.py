"""`CuttingProxy`: a TCP proxy that breaks connections like a network failure, at offsets determined by a seed.

    async with CuttingProxy(port, seed=7, cut_after=(1, 4096)) as proxy:
        async with hawse.connect(proxy.url) as hw: ...

Bytes are forwarded as they arrive, so a cut can be inside a frame's header.
"""

import asyncio
import random
import socket
import struct
from contextlib import suppress
from types import TracebackType

from tests.support.waiting import Changes

CHUNK = 64 * 1024
LINGER_NOW = struct.pack("ii", 1, 0)  # SO_LINGER with 0 s: closing sends RST and drops queued data


class CuttingProxy:
    """Listens on its own loopback port and forwards to `port`.

    `cut_after`: each connection is cut after a random number of bytes between the two bounds, in whichever direction
    reaches it first. `cuts_left` limits the total number of cuts (None: unlimited).
    """

    def __init__(
        self,
        port: int,
        *,
        host: str = "127.0.0.1",
        seed: int = 0,
        cut_after: tuple[int, int] | None = None,
        cuts_left: int | None = None,
    ) -> None:
        self.cut_after = cut_after
        self.cuts_left = cuts_left
        self.connections = 0  # accepted and forwarded
        self.refused = 0
        self.cuts = 0  # connections cut by `cut` or `cut_after`
        self.spent = asyncio.Event()  # set when `cuts_left` reaches 0
        self.bytes_up = 0  # client to server
        self.bytes_down = 0
        self.port = 0
        self._target = (host, port)
        self._random = random.Random(seed)
        self._refusing = False
        self._changes = Changes()
        self._stalled = asyncio.Event()
        self._stalled.set()
        self._pairs: set[_Pair] = set()
        self._group = asyncio.TaskGroup()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def open(self) -> int:
        """The number of open connections."""
        return len(self._pairs)

    async def __aenter__(self) -> "CuttingProxy":
        await self._group.__aenter__()
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=CHUNK)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        self.resume_reading()
        for pair in [*self._pairs]:
            pair.close(reset=True)
        await self._group.__aexit__(None, None, None)

    # ---- for tests

    def lead_to(self, port: int) -> None:
        """Forward new connections to another port, as a load balancer does. Open connections are not affected."""
        self._target = (self._target[0], port)

    def cut(self, *, reset: bool | None = None) -> int:
        """Close all connections abruptly; return how many. `reset` chooses RST or FIN; by default at random."""
        pairs = [*self._pairs]
        for pair in pairs:
            self._cut(pair, reset)
        return len(pairs)

    def refuse(self) -> None:
        """Reset every new connection from now on, and `cut`."""
        self._refusing = True
        self.cut()

    def resume(self) -> None:
        """Accept connections again."""
        self._refusing = False

    def stall(self) -> None:
        """Stop forwarding without closing: a dead connection that neither end notices."""
        self._stalled.clear()

    def resume_reading(self) -> None:
        """Undo `stall`."""
        self._stalled.set()

    def lose(self) -> int:
        """Drop all further data on the open connections, without closing them; return the number of connections.

        New connections work, as after a network change that neither end has noticed.
        """
        for pair in self._pairs:
            pair.lost = True
        return len(self._pairs)

    async def until_refused(self, count: int) -> None:
        """Wait until the proxy has refused `count` connections."""
        await self._changes.until(lambda: self.refused >= count)

    async def until_closed(self) -> None:
        """Wait until all connections are closed."""
        await self._changes.until(lambda: not self._pairs)

    # ---- inside

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._refusing:
            self.refused += 1
            self._changes.notify()
            _close(writer, reset=True)
            return
        try:
            up_reader, up_writer = await asyncio.open_connection(*self._target, limit=CHUNK)
        except OSError:
            self.refused += 1
            self._changes.notify()
            _close(writer, reset=True)
            return
        self.connections += 1
        pair = _Pair(writer, up_writer)
        self._pairs.add(pair)
        self._group.create_task(self._forward(pair, reader, up_writer, self._budget(), up=True))
        self._group.create_task(self._forward(pair, up_reader, writer, self._budget(), up=False))

    def _budget(self) -> int | None:
        return self._random.randint(*self.cut_after) if self.cut_after else None

    async def _forward(
        self,
        pair: "_Pair",
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        budget: int | None,
        *,
        up: bool,
    ) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while data := await reader.read(CHUNK):
                await self._stalled.wait()
                if pair.lost:
                    continue
                last = budget is not None and budget <= len(data) and self._may_cut()
                data = data[:budget] if last else data
                budget = None if budget is None else max(budget - len(data), 0)
                writer.write(data)
                self._count(len(data), up)
                if last:
                    self._cut(pair, None)
                    return
                await writer.drain()
        if pair.lost and not up:
            return  # the client does not see the server's close; its own close ends the pair
        pair.close(reset=False)
        self._pairs.discard(pair)
        self._changes.notify()

    def _count(self, size: int, up: bool) -> None:
        if up:
            self.bytes_up += size
        else:
            self.bytes_down += size

    def _may_cut(self) -> bool:
        return self.cuts_left is None or self.cuts_left > 0

    def _cut(self, pair: "_Pair", reset: bool | None) -> None:
        if pair not in self._pairs:
            return
        self._pairs.discard(pair)
        self._changes.notify()
        self.cuts += 1
        if self.cuts_left is not None:
            self.cuts_left -= 1
            if self.cuts_left == 0:
                self.spent.set()
        pair.close(reset=self._random.random() < 0.5 if reset is None else reset)


class _Pair:
    """The two ends of one connection through the proxy."""

    def __init__(self, *writers: asyncio.StreamWriter) -> None:
        self.lost = False  # whether all data of the connection is dropped
        self._writers = writers

    def close(self, *, reset: bool) -> None:
        for writer in self._writers:
            _close(writer, reset=reset)


def _close(writer: asyncio.StreamWriter, *, reset: bool) -> None:
    if reset and not writer.is_closing():
        raw = writer.get_extra_info("socket")
        with suppress(OSError):
            raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOW)
        writer.transport.abort()
    else:
        writer.close()
