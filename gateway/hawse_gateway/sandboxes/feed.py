"""Serves `sandbox.watch`, which reports all sandboxes, and then each change made by any gateway.

A single task reads changed rows for all watches. A watch only stores the ids of sandboxes to report. Its memory use is
therefore limited by the number of sandboxes, even if its client reads slowly.
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
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.records import RUNS, SANDBOXES, Rows, has_labels
from hawse_gateway.store.base import ANY_TABLE, StoreError

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # seconds to wait before retrying after a store error
KEYED_READS: Final = 64  # number of changed sandboxes above which reading all rows is faster
SLICE: Final = 100  # number of sandboxes to describe per event loop iteration


class SandboxWatchStream(OutputOnlyStream):
    """The stream for one watch."""

    def __init__(self, call: ServerCall, feed: "SandboxFeed", labels: Mapping[str, str]) -> None:
        super().__init__(call)
        self._feed = feed
        self._labels = labels
        self._pending: dict[str, None] | None = None  # ids to report, in order; None until the rows have been read once
        self._sent: set[str] = set()  # ids already reported to the client
        self._live = False

    def update(self, changed: Mapping[str, SandboxInfo | None]) -> None:
        """Queue sandboxes that have changed. The first call queues all sandboxes."""
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
    """Reads changed rows while there are watches. `known` contains the sandboxes as last read."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self.known: dict[str, SandboxInfo] = {}
        self._sandboxes = sandboxes
        self._streams: set[SandboxWatchStream] = set()
        self._units: dict[str, str] = {}  # sandbox ids keyed by unit, because the rows for runs are keyed by unit
        self._unit_of: dict[str, str] = {}  # the reverse
        self._changed: set[tuple[str, str]] = set()  # tables and keys of changed rows
        self._all = True  # whether to read all sandboxes
        self._wake = asyncio.Event()

    @property
    def watches(self) -> int:
        """The number of watches."""
        return len(self._streams)

    def serve(self, call: ServerCall, labels: Mapping[str, str]) -> None:
        """Serve `call` with a new watch."""
        stream = SandboxWatchStream(call, self, labels)
        self._streams.add(stream)
        call.serve(stream)
        self._wake.set()

    def remove(self, stream: SandboxWatchStream) -> None:
        self._streams.discard(stream)

    async def run(self) -> None:
        """Report changes to the watches until cancelled."""
        stop_listening = self._sandboxes.store.listen(self.note)
        self._sandboxes.progress.on_change = lambda sandbox: self.note(SANDBOXES, sandbox)
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                if self._streams:
                    await self._read()
        finally:
            stop_listening()
            self._sandboxes.progress.on_change = None

    def note(self, table: str, key: str) -> None:
        """Record a changed row. If there are no watches or too many changes, all rows are read the next time."""
        if table not in (SANDBOXES, RUNS, ANY_TABLE):
            return
        if table == ANY_TABLE or not self._streams or len(self._changed) >= KEYED_READS:
            self._all = True
            self._changed.clear()
        elif not self._all:
            self._changed.add((table, key))
        self._wake.set()

    async def _read(self) -> None:
        everything, self._all = self._all, False
        changes, self._changed = self._changed, set()
        ids = {self._units.get(key, key) if table == RUNS else key for table, key in changes}
        try:
            if everything:
                rows: Mapping[str, Rows] = await self._sandboxes.rows.read()
            else:
                rows = {id: await records.read(self._sandboxes.store, id) for id in ids}
        except StoreError as error:
            log.warning("! sandbox.watch: %s", error)
            self._all |= everything
            self._changed |= changes
            await asyncio.sleep(RETRY)
            self._wake.set()
            return
        changed = dict[str, SandboxInfo | None]()
        for number, id in enumerate({*self.known, *rows} if everything else rows, 1):
            info = self._update(id, rows.get(id, Rows()))
            if info != self.known.get(id):
                changed[id] = info
            if number % SLICE == 0:
                await asyncio.sleep(0)  # let other tasks run
        for id, info in changed.items():
            if info is None:
                del self.known[id]
            else:
                self.known[id] = info
        for stream in list(self._streams):
            stream.update(changed)

    def _update(self, id: str, rows: Rows) -> SandboxInfo | None:
        """Store a sandbox's unit. Return the sandbox's description, or None if clients can't see the sandbox."""
        self._units.pop(self._unit_of.pop(id, ""), None)
        if rows.sandbox is None or not rows.visible:
            return None
        unit = rows.sandbox.value.unit
        self._units[unit], self._unit_of[id] = id, unit
        return self._sandboxes.describe(rows)
