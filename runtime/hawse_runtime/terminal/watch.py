"""Serves streams that report a list whenever one of its elements changes: `terminal.watch`, `terminal.questions`."""

import asyncio
from collections.abc import Callable

from hawse.api.spec import Reply
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import LatestValueStream
from hawse.wire import Principal

MERGE_DELAY = 0.05  # seconds to wait for further changes before the first report


class ListWatches:
    """The streams of one method."""

    def __init__(self, event: str, describe: Callable[[Principal], Reply], *, interval: float) -> None:
        """Create the instance without streams.

        Args:
            event: The event name.
            describe: Returns the elements that a principal can see.
            interval: Minimum number of seconds between reports, because elements may change often.
        """
        self._event = event
        self._describe = describe
        self._interval = interval
        self._streams: dict[LatestValueStream, None] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._reported = -interval  # time of the last report (loop time)

    def serve(self, call: ServerCall) -> None:
        stream = LatestValueStream(call, self._event, lambda: self._describe(call.principal), self._detached)
        self._streams[stream] = None
        call.serve(stream)

    def note_change(self) -> None:
        """Report the elements soon, because one of them has changed."""
        if self._streams and self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(max(loop.time() + MERGE_DELAY, self._reported + self._interval), self._report)

    def close(self) -> None:
        """Stop reporting changes."""
        if self._timer is not None:
            self._timer.cancel()

    def _report(self) -> None:
        self._timer = None
        self._reported = asyncio.get_running_loop().time()
        for stream in list(self._streams):
            stream.changed()

    def _detached(self, stream: LatestValueStream) -> None:
        del self._streams[stream]
