"""`sandbox.watch`: reports all sandboxes, and then each change by any gateway.

One task reads the rows after a change, for all watches. A watch only keeps the ids to send, so the number of sandboxes
limits its memory even if its client reads slowly.
"""

import asyncio
import logging
from collections.abc import Mapping
from typing import Final

from hawse.api.rights import in_sandbox
from hawse.api.sandboxes import SandboxDeleted, SandboxInfo
from hawse.api.spec import Nothing
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import has_labels
from hawse_gateway.store.base import StoreError

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # s before the next attempt after an error of the store


class SandboxWatchStream(OutputOnlyStream):
    """The stream of one watch."""

    def __init__(self, call: ServerCall, feed: "SandboxFeed", labels: Mapping[str, str]) -> None:
        super().__init__(call)
        self._feed = feed
        self._labels = labels
        self._pending: dict[str, None] | None = None  # ids to send, in order; None until the first read of the rows
        self._sent: set[str] = set()  # ids that were sent to the client
        self._live = False

    def update(self, changed: Mapping[str, SandboxInfo | None]) -> None:
        """Queue changed sandboxes. The first call queues all sandboxes."""
        if self._pending is None:
            self._pending = dict.fromkeys(self._feed.known)
        else:
            self._pending |= dict.fromkeys(changed)
        self.wake()

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._pending is None or connection.window(ch) <= 0:
            return False
        while self._pending:
            id = next(iter(self._pending))
            del self._pending[id]
            info = self._feed.known.get(id)
            if info is not None and has_labels(info, self._labels) and self._visible(info):
                self._sent.add(id)
                connection.send_event(ch, "changed", info)
                return True
            if id in self._sent:
                self._sent.discard(id)
                connection.send_event(ch, "deleted", SandboxDeleted(id=id))
                return True
        if not self._live:
            self._live = True
            connection.send_event(ch, "live", Nothing())
        return False

    def _visible(self, info: SandboxInfo) -> bool:
        caller = self._call.principal
        return bool(in_sandbox(caller.rights, info.id, own=info.owner == caller.id))

    def detach(self) -> None:
        self._feed.remove(self)


class SandboxFeed:
    """Reads the rows while there are watches. `known` contains the last known sandboxes."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self.known: dict[str, SandboxInfo] = {}
        self._sandboxes = sandboxes
        self._streams: set[SandboxWatchStream] = set()
        self._changed = asyncio.Event()

    @property
    def watches(self) -> int:
        """The number of watches."""
        return len(self._streams)

    def serve(self, call: ServerCall, labels: Mapping[str, str]) -> None:
        """Serve `call` with a new watch."""
        stream = SandboxWatchStream(call, self, labels)
        self._streams.add(stream)
        call.serve(stream)
        self._changed.set()

    def remove(self, stream: SandboxWatchStream) -> None:
        self._streams.discard(stream)

    async def run(self) -> None:
        """Report changes to the watches until cancelled."""
        stop_listening = self._sandboxes.store.listen(lambda table, key: self._changed.set())
        self._sandboxes.progress.on_change = lambda sandbox: self._changed.set()
        try:
            while True:
                await self._changed.wait()
                self._changed.clear()
                if self._streams:
                    await self._read()
        finally:
            stop_listening()
            self._sandboxes.progress.on_change = None

    async def _read(self) -> None:
        try:
            rows = await self._sandboxes.rows.read()
        except StoreError as error:
            log.warning("! sandbox.watch: %s", error)
            await asyncio.sleep(RETRY)
            self._changed.set()
            return
        now = {id: self._sandboxes.describe(found) for id, found in rows.items() if found.visible}
        changed = {id: now.get(id) for id in {**self.known, **now} if self.known.get(id) != now.get(id)}
        self.known = now
        for stream in list(self._streams):
            stream.update(changed)
