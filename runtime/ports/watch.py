"""Serves `port.watch`. Nobody tells when a port is opened, so while somebody watches one looks: often at first and
after a change, seldom while nothing happens."""

import asyncio
from collections.abc import Awaitable, Callable

from hawse.api.ports import PortListResult
from hawse.wire import Connection, HawseError
from runtime.core.tasks import Tasks
from runtime.rpc.call import RuntimeCall

SHORTEST = 0.2  # seconds between two looks
LONGEST = 2.0
GROWTH = 1.5


class PortWatchStream:
    """A `Stream` of events without bytes. Changes that nobody has read yet are one."""

    def __init__(self, call: RuntimeCall, on_detach: Callable[["PortWatchStream"], None]) -> None:
        self._call = call
        self._on_detach = on_detach
        self._news: PortListResult | None = None

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._news is not None and connection.window(ch) > 0:
            news, self._news = self._news, None
            connection.send_event(ch, "ports", news)
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        raise HawseError("protocol_error", "port.watch takes no input")

    def receive_end(self) -> None:
        pass

    def detach(self) -> None:
        self._on_detach(self)

    def tell(self, ports: PortListResult) -> None:
        self._news = ports
        self._call.wake()


class PortPoller:
    """All of them share one task that looks; it ends with the last of them."""

    def __init__(self, look: Callable[[], Awaitable[PortListResult]], tasks: Tasks) -> None:
        self._look = look
        self._tasks = tasks
        self._open: dict[PortWatchStream, None] = {}
        self._known: PortListResult | None = None  # what was seen last, while somebody watches
        self._running = False
        self._kicked = asyncio.Event()

    def serve(self, call: RuntimeCall) -> None:
        watch = PortWatchStream(call, self._close)
        self._open[watch] = None
        call.serve(watch)
        if self._known is not None:
            watch.tell(self._known)
        if not self._running:
            self._running = True
            self._tasks.start(self._run())

    def kick(self) -> None:
        """Look now: something is known to have changed."""
        self._kicked.set()

    def _close(self, watch: PortWatchStream) -> None:
        del self._open[watch]
        if not self._open:
            self._kicked.set()

    async def _run(self) -> None:
        interval = SHORTEST
        try:
            while self._open:
                self._kicked.clear()
                ports = await self._look()
                interval = min(interval * GROWTH, LONGEST)
                if ports != self._known:
                    interval = SHORTEST
                    self._known = ports
                    for watch in self._open:
                        watch.tell(ports)
                await self._pause(interval)
        finally:
            self._running = False
            self._known = None

    async def _pause(self, interval: float) -> None:
        try:
            async with asyncio.timeout(interval):
                await self._kicked.wait()
        except TimeoutError:
            pass
