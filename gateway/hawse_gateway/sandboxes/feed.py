"""Serves `sandbox.watch`, which first reports all sandboxes, and then each change, whichever gateway made it.

A single task reads changed rows for all watches. A watch only stores the ids of sandboxes to report. Its memory use is
therefore limited by the number of sandboxes, even if its client reads slowly.
"""

import asyncio
import logging
from collections.abc import Iterable, Mapping
from typing import Final

from hawse.api.sandboxes import SandboxDeleted, SandboxInfo
from hawse.api.spec import Nothing
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError
from hawse_gateway.sandboxes import records
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import Scope
from hawse_gateway.sandboxes.records import has_labels, order
from hawse_gateway.sandboxes.table import PAGE_ROWS
from hawse_gateway.store.base import store_errors_unavailable

log = logging.getLogger(__name__)

RETRY: Final = 1.0  # seconds to wait before retrying after a store error


class SandboxWatchStream(OutputOnlyStream):
    """The stream for one watch.

    Attributes:
        scope: The sandboxes that the client can see.
        labels: The labels that a sandbox must have.
        after: The id of the last sandbox that was loaded. None before the first page and after the last one.
        loaded: Whether all sandboxes were loaded.
    """

    def __init__(self, call: ServerCall, feed: "SandboxFeed", labels: Mapping[str, str]) -> None:
        super().__init__(call)
        self.scope = Scope.of(call.principal)
        self.labels = labels
        self.after: str | None = None
        self.loaded = False
        self._feed = feed
        self._pending: dict[str, None] = {}  # ids of sandboxes to report, in order
        self._sent: set[str] = set()  # ids of sandboxes already reported to the client
        self._live = False

    def load(self, page: Iterable[str], after: str | None) -> None:
        """Queue a page of sandboxes."""
        self._pending |= dict.fromkeys(page)
        self.after, self.loaded = after, after is None
        self.wake()

    def update(self, changed: Iterable[str]) -> None:
        """Queue changed sandboxes, except sandboxes on pages that have not been loaded yet."""
        self._pending |= {
            id: None for id in changed if (self._passed(id) and self._find(id) is not None) or id in self._sent
        }
        self.wake()

    def _passed(self, id: str) -> bool:
        return self.loaded or (self.after is not None and order(id) <= order(self.after))

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if connection.window(ch) <= 0:
            return False
        while self._pending:
            id = next(iter(self._pending))
            del self._pending[id]
            info = self._find(id)
            if info is not None:
                self._sent.add(id)
                connection.send_event(ch, "changed", info)
                return True
            if id in self._sent:
                self._sent.discard(id)
                connection.send_event(ch, "deleted", SandboxDeleted(id=id))
                return True
        if self.loaded and not self._live:
            self._live = True
            connection.send_event(ch, "live", Nothing())
        return False

    def _find(self, id: str) -> SandboxInfo | None:
        """Return a sandbox's description if the sandbox belongs to this watch."""
        info = self._feed.known.get(id)
        if info is None or not self.scope.includes(id, info.owner or "") or not has_labels(info, self.labels):
            return None
        return info

    def detach(self) -> None:
        self._feed.remove(self)


class SandboxFeed:
    """Reads changed rows while there are watches. `known` contains all watched sandboxes as last read."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self.known: dict[str, SandboxInfo] = {}
        self._sandboxes = sandboxes
        self._streams: dict[SandboxWatchStream, None] = {}
        self._changed: dict[str, None] = {}  # ids of changed sandboxes, in order
        self._wake = asyncio.Event()

    @property
    def watches(self) -> int:
        """The number of watches."""
        return len(self._streams)

    def serve(self, call: ServerCall, labels: Mapping[str, str]) -> None:
        """Serve `call` with a new watch."""
        stream = SandboxWatchStream(call, self, labels)
        self._streams[stream] = None
        call.serve(stream)
        self._wake.set()

    def remove(self, stream: SandboxWatchStream) -> None:
        self._streams.pop(stream, None)
        if not self._streams:
            self.known.clear()
            self._changed.clear()

    async def run(self) -> None:
        """Report changes to the watches until cancelled."""
        stop_listening = self._sandboxes.index.listen(self.note)
        self._sandboxes.progress.on_change = self.note
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                try:
                    await self._read()
                except HawseError as error:
                    log.warning("! sandbox.watch: %s", error)
                    await asyncio.sleep(RETRY)
                    self._wake.set()
        finally:
            stop_listening()
            self._sandboxes.progress.on_change = None

    def note(self, sandbox: str) -> None:
        """Record that a sandbox has changed."""
        if self._streams:
            self._changed[sandbox] = None
            self._wake.set()

    async def _read(self) -> None:
        """Read all changed sandboxes, and all pages that new watches still have to load. Raises `HawseError`
        (`unavailable`)."""
        while self._changed or not all(stream.loaded for stream in self._streams):
            await self._read_changed()
            for stream in list(self._streams):
                if not stream.loaded:
                    page, after = await self._sandboxes.page(stream.scope, stream.labels, stream.after)
                    self._learn({info.id: info for info in page})
                    stream.load([info.id for info in page], after)

    async def _read_changed(self) -> None:
        changed, self._changed = self._changed, {}
        ids = [id for id in changed if self._watched(id)]
        for start in range(0, len(ids), PAGE_ROWS):
            try:
                with store_errors_unavailable():
                    rows = await records.read_many(self._sandboxes.store, ids[start : start + PAGE_ROWS])
            except HawseError:
                self._changed = dict.fromkeys(ids[start:]) | self._changed
                raise
            self._learn({id: self._sandboxes.describe(each) if each.visible else None for id, each in rows.items()})
            await asyncio.sleep(0)  # lets other tasks run

    def _watched(self, id: str) -> bool:
        """Return whether a sandbox may belong to a watch."""
        if id in self.known:
            return True
        found = self._sandboxes.index.find(id)
        return found is not None and any(stream.scope.includes(id, found.owner) for stream in self._streams)

    def _learn(self, infos: Mapping[str, SandboxInfo | None]) -> None:
        """Store descriptions, and report those that have changed to the watches."""
        changed = [id for id, info in infos.items() if info != self.known.get(id)]
        for id in changed if self._streams else ():
            if (info := infos[id]) is None:
                del self.known[id]
            else:
                self.known[id] = info
        for stream in self._streams:
            stream.update(changed)
