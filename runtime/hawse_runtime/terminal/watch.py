"""Serves `terminal.watch`, which reports all terminals whenever one of them changes."""

import asyncio
from collections.abc import Callable

from hawse.api.terminals import TerminalListResult
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse.wire import Principal

MERGE_DELAY = 0.05  # seconds to wait for further changes before the first report
INTERVAL = 1.0  # minimum number of seconds between reports, because programs may change their titles often


class TerminalWatches:
    """The streams for `terminal.watch` calls."""

    def __init__(self, describe: Callable[[Principal], TerminalListResult]) -> None:
        """Create the instance without streams. `describe` returns the terminals that a principal can see."""
        self._describe = describe
        self._streams: dict[LatestValueStream, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._reported = -INTERVAL  # time of the last report (loop time)

    def serve(self, call: ServerCall) -> None:
        stream = LatestValueStream(call, "terminals", lambda: self._describe(call.principal), self._detached)
        self._streams[stream] = None
        call.serve(stream)

    def note_change(self) -> None:
        """Report the terminals soon, because one of them has changed."""
        if self._streams and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time() + MERGE_DELAY, self._reported + INTERVAL), self._report)

    def close(self) -> None:
        """Report no further changes."""
        if self._timer is not None:
            self._timer.cancel()

    def _report(self) -> None:
        self._timer = None
        self._reported = asyncio.get_running_loop().time()
        for stream in list(self._streams):
            stream.changed()

    def _detached(self, stream: LatestValueStream) -> None:
        del self._streams[stream]
