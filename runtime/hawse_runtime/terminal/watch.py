"""Serves `terminal.watch`, which reports all terminals whenever one of them changes."""

import asyncio
from collections.abc import Callable

from hawse.api.terminals import TerminalListResult
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse.wire import Principal

MERGE_DELAY = 0.05  # seconds during which changes are merged; programs may change their titles often


class TerminalWatches:
    """The streams for `terminal.watch` calls."""

    def __init__(self, describe: Callable[[Principal], TerminalListResult]) -> None:
        """Create the instance without streams. `describe` returns the terminals that a principal can see."""
        self._describe = describe
        self._streams: dict[LatestValueStream, None] = {}
        self._timer: asyncio.TimerHandle | None = None

    def serve(self, call: ServerCall) -> None:
        stream = LatestValueStream(call, "terminals", lambda: self._describe(call.principal), self._detached)
        self._streams[stream] = None
        call.serve(stream)

    def note_change(self) -> None:
        """Report the terminals soon, because one of them has changed."""
        if self._streams and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(MERGE_DELAY, self._report)

    def close(self) -> None:
        """Report no further changes."""
        if self._timer is not None:
            self._timer.cancel()

    def _report(self) -> None:
        self._timer = None
        for stream in list(self._streams):
            stream.changed()

    def _detached(self, stream: LatestValueStream) -> None:
        del self._streams[stream]
