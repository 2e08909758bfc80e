"""The watches of a sandbox, and the `watch.*` methods (docs/wire.md section 9)."""

import asyncio
import hashlib
import re
from typing import Any, NamedTuple

import msgspec

from hawse.api.paths import from_text, to_text
from hawse.api.watches import (
    DEFAULT_EXCLUDE,
    RescanReason,
    WatchChanges,
    WatchChangesResult,
    WatchStart,
    WatchStop,
    WatchTarget,
)
from hawse.rpc import handles, serves
from hawse.wire import HawseError
from runtime.core.globs import Filter
from runtime.core.tasks import Tasks
from runtime.posix.environment import Environment
from runtime.rpc.call import RuntimeCall
from runtime.watch.directory_tree import DirectoryTree
from runtime.watch.watch import DirectoryWatch, WatchStream

LIMIT = 64  # watches; each is one of the 128 queues that Linux gives a user by default
KEPT = 600.0  # seconds that one which nobody reads goes on, so that somebody can come back

# runtime, what is watched, number of the watch in this runtime, cursor
_VERSION = re.compile(r"([0-9a-f]{1,64})-([0-9a-f]{16})-(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,14})")


class WatchKey(NamedTuple):
    """Where in the log a version is; `reason`: why nothing before is known, though it was asked for."""

    cursor: int
    reason: RescanReason | None = None


class WatchRecord:
    """A watch, and for how long nobody has read it."""

    def __init__(self, watch: DirectoryWatch, mark: str, number: int) -> None:
        self.watch = watch
        self.mark = mark
        self.number = number
        self.timer: asyncio.TimerHandle | None = None


class WatchMethods:
    """By what they watch. Equal ones are one."""

    def __init__(self, environment: Environment, tasks: Tasks, runtime_id: str) -> None:
        self._environment = environment
        self._tasks = tasks
        self._runtime = runtime_id
        self._entries: dict[str, WatchRecord] = {}  # by mark; who is used last comes last
        self._number = 0

    def __len__(self) -> int:
        return len(self._entries)

    def close(self) -> None:
        for entry in list(self._entries.values()):
            self._drop(entry)

    # ---- the methods

    @serves(WatchStart)
    def _start(self, call: RuntimeCall, params: WatchStart) -> None:
        entry, place = self._obtain(params, params.since)
        reader = WatchStream(entry.watch, call, place.cursor, place.reason)
        reader.on_detach = lambda: self._use(entry)
        self._use(entry)
        call.serve(reader)

    @handles(WatchChanges)
    async def _changes(self, params: WatchChanges) -> WatchChangesResult:
        entry, place = self._obtain(params, params.since)
        watch = entry.watch
        await watch.settle()
        reason = place.reason or watch.log.missing(place.cursor)
        if reason is not None:
            version = watch.version(watch.log.end)
            return WatchChangesResult(id=watch.id, status="rescan", version=version, reason=reason)
        cursor = watch.log.end if params.since is None else place.cursor
        changes, cursor = watch.log.read(cursor)
        return WatchChangesResult(
            id=watch.id,
            status="changed" if changes else "unchanged",
            version=watch.version(cursor),
            changes=changes,
            more=cursor < watch.log.end,
        )

    @handles(WatchStop)
    def _stop(self, params: WatchStop) -> dict[str, Any]:
        watch_id = params.id
        for entry in list(self._entries.values()):
            if entry.watch.id == watch_id:
                self._drop(entry)
        return {}

    # ---- the watches

    def _obtain(self, params: WatchTarget, since: str | None) -> tuple[WatchRecord, WatchKey]:
        """The watch of what `params` say, an existing or a new one, and the place of `since` in its log."""
        path = self._environment.path(params.path)
        include, exclude = params.include or [], list(DEFAULT_EXCLUDE) if params.exclude is None else params.exclude
        what = msgspec.json.encode((to_text(path), params.recursive, include, exclude))
        mark = hashlib.sha256(what).hexdigest()[:16]
        entry = self._entries.get(mark)
        place = self._place(entry, mark, since)
        if entry is None:
            filter = Filter(_globs(include), _globs(exclude))
            self._make_room()
            entry = self._begin(path, filter, mark, recursive=params.recursive)
        self._use(entry)
        return entry, place

    def _begin(self, path: str, filter: Filter, mark: str, *, recursive: bool) -> WatchRecord:
        tree = DirectoryTree(path, filter, recursive=recursive)
        number, self._number = self._number, self._number + 1
        version = f"{self._runtime}-{mark}-{number}"
        entry = WatchRecord(DirectoryWatch(f"w-{mark[:8]}-{number}", to_text(path), tree, version), mark, number)
        self._entries[mark] = entry
        self._tasks.start(self._run(entry))
        return entry

    def _place(self, entry: WatchRecord | None, mark: str, since: str | None) -> WatchKey:
        """Raises `invalid_params` for what is no version of this watch."""
        end = 0 if entry is None else entry.watch.log.end
        if since is None:
            return WatchKey(end)
        found = _VERSION.fullmatch(since)
        if found is None or found[2] != mark:
            raise _no_version("`since` is no version of such a watch")
        number, cursor = int(found[3]), int(found[4])
        if found[1] != self._runtime:
            return WatchKey(end, "restarted")
        if entry is not None and number == entry.number:
            if cursor > end:
                raise _no_version("`since` is in the future")
            return WatchKey(cursor)
        if number >= self._number:
            raise _no_version("`since` is in the future")
        return WatchKey(end, "expired")

    def _make_room(self) -> None:
        if len(self._entries) >= LIMIT:
            idle = next((entry for entry in self._entries.values() if not entry.watch.readers), None)
            if idle is None:
                raise HawseError("limit_exceeded", f"{LIMIT} watches are being read")
            self._drop(idle)

    def _use(self, entry: WatchRecord) -> None:
        """Somebody asked for it, or stopped reading: from now on it is kept for a while."""
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if self._entries.get(entry.mark) is entry:
            self._entries[entry.mark] = self._entries.pop(entry.mark)
            if not entry.watch.readers:
                entry.timer = asyncio.get_running_loop().call_later(KEPT, self._drop, entry)

    def _drop(self, entry: WatchRecord) -> None:
        self._forget(entry)
        entry.watch.stop()

    def _forget(self, entry: WatchRecord) -> None:
        if self._entries.get(entry.mark) is entry:
            del self._entries[entry.mark]
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None

    async def _run(self, entry: WatchRecord) -> None:
        try:
            await entry.watch.run()
        finally:
            self._forget(entry)


def _globs(texts: list[str]) -> list[str]:
    try:
        return [from_text(text) for text in texts]
    except ValueError as error:
        raise HawseError("invalid_params", str(error), details={"path": "$.include"}) from None


def _no_version(message: str) -> HawseError:
    return HawseError("invalid_params", message, details={"path": "$.since"})
