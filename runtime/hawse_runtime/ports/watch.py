"""Serves `port.watch` by polling, because the kernel doesn't report new listening sockets.

One task polls for all streams. The interval is short after a change, and grows as long as nothing changes.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from hawse.api.ports import PortListResult
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse_runtime.core.tasks import Tasks

SHORTEST = 0.2  # minimum number of seconds between polls
LONGEST = 2.0
GROWTH = 1.5


class PortPoller:
    """The streams for `port.watch` calls, and the task that polls for them until the last one ends."""

    def __init__(self, read: Callable[[], Awaitable[PortListResult]], tasks: Tasks) -> None:
        """Create the poller. `read` returns the ports that are currently open."""
        self._read = read
        self._tasks = tasks
        self._streams: dict[LatestValueStream, ServerCall] = {}
        self._latest: PortListResult | None = None  # None before the first poll, and while there are no streams
        self._running = False
        self._poll_now = asyncio.Event()

    def serve(self, call: ServerCall) -> None:
        stream = LatestValueStream(
            call, "ports", lambda: self._latest, self._detached, changed=self._latest is not None
        )
        self._streams[stream] = call
        call.serve(stream)
        if not self._running:
            self._running = True
            self._tasks.start(self._run())

    def poll_now(self) -> None:
        """Poll immediately. Called when something has changed."""
        self._poll_now.set()

    def _detached(self, stream: LatestValueStream) -> None:
        del self._streams[stream]
        if not self._streams:
            self._poll_now.set()

    async def _run(self) -> None:
        interval = SHORTEST
        try:
            while self._streams:
                self._poll_now.clear()
                ports = await self._read()
                interval = min(interval * GROWTH, LONGEST)
                if ports != self._latest:
                    interval = SHORTEST
                    self._latest = ports
                    for stream in self._streams:
                        stream.changed()
                await self._pause(interval)
        except Exception as error:
            for call in list(self._streams.values()):
                call.error(typed(error))
        finally:
            self._running = False
            self._latest = None

    async def _pause(self, interval: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(interval):
                await self._poll_now.wait()
