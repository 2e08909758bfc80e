"""A sandbox's watches, and the `watch.*` methods (docs/wire.md section 9)."""

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
from hawse.rpc.call import ServerCall
from hawse.wire import HawseError
from hawse_runtime.core.globs import Filter
from hawse_runtime.core.registry import Registry, Retention
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.posix.environment import Environment
from hawse_runtime.watch.directory_tree import DirectoryTree
from hawse_runtime.watch.watch import DirectoryWatch, WatchStream

# A version: the runtime's id, the target's fingerprint, the watch's number in this runtime, and the cursor.
_VERSION = re.compile(r"([0-9a-f]{1,64})-([0-9a-f]{16})-(0|[1-9][0-9]{0,8})-(0|[1-9][0-9]{0,14})")


class WatchLimits(msgspec.Struct, frozen=True):
    """Limits on the number of watches and on how long watches without readers are kept."""

    count: int = 64  # maximum number of watches; each uses one of the 128 inotify instances allowed by default
    unread_age: float = 600.0  # seconds to keep a watch without readers; long enough for a client to reconnect


class LogPosition(NamedTuple):
    """A version's cursor in the log. `reason` states why requested changes before the cursor are unavailable."""

    cursor: int
    reason: RescanReason | None = None


class WatchRecord:
    """A watch in the registry, where a watch without readers counts as ended."""

    def __init__(self, watch: DirectoryWatch, target: str, number: int) -> None:
        self.id = target  # the target's fingerprint
        self.instance = str(number)
        self.watch = watch
        self.number = number  # the watch's number in this runtime


class WatchMethods:
    """The watches, keyed by target. Calls with equal parameters share a watch."""

    def __init__(
        self,
        environment: Environment,
        tasks: Tasks,
        disk: ThreadPool,
        runtime_id: str,
        limits: WatchLimits = WatchLimits(),
    ) -> None:
        self._environment = environment
        self._tasks = tasks
        self._disk = disk
        self._runtime = runtime_id
        self._limits = limits
        self._records: Registry[WatchRecord] = Registry(
            "watch",
            retention=Retention(limits.count, limits.unread_age),
            on_drop=lambda record: record.watch.stop(),
        )
        self._number = 0

    def __len__(self) -> int:
        return len(self._records)

    async def close(self) -> None:
        """Stop all watches."""
        await self._records.close()

    # ---- the methods

    @serves(WatchStart)
    def _start(self, call: ServerCall, params: WatchStart) -> None:
        record, position = self._obtain(params, params.since)
        reader = WatchStream(
            record.watch, call, position.cursor, position.reason, on_detach=lambda: self._touch(record)
        )
        self._touch(record)
        call.serve(reader)

    @handles(WatchChanges)
    async def _changes(self, params: WatchChanges) -> WatchChangesResult:
        record, position = self._obtain(params, params.since)
        watch = record.watch
        await watch.settle()
        reason = position.reason or watch.log.missing(position.cursor)
        if reason is not None:
            version = watch.version(watch.log.end)
            return WatchChangesResult(id=watch.id, status="rescan", version=version, reason=reason)
        cursor = watch.log.end if params.since is None else position.cursor
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
        for record in self._records:
            if record.watch.id == params.id:
                self._records.drop(record)
        return {}

    # ---- the watches

    def _obtain(self, params: WatchTarget, since: str | None) -> tuple[WatchRecord, LogPosition]:
        """Return an existing or new watch for `params`, along with the position of `since` in its log.

        Raises:
            HawseError: `invalid_params` if `since` belongs to another watch, `limit_exceeded` if all watches have
                readers.
        """
        path = self._environment.path(params.path)
        include, exclude = params.include or [], list(DEFAULT_EXCLUDE) if params.exclude is None else params.exclude
        what = msgspec.json.encode((to_text(path), params.recursive, include, exclude))
        target = hashlib.sha256(what).hexdigest()[:16]
        record = self._records.find(target)
        position = self._position(record, target, since)
        if record is None:
            filter = Filter(_globs(include), _globs(exclude))
            if len(self._records) >= self._limits.count and not self._records.drop_oldest_ended():
                raise HawseError("limit_exceeded", f"limit reached: all {self._limits.count} watches have readers")
            record = self._begin(path, filter, target, recursive=params.recursive)
        self._touch(record)
        return record, position

    def _begin(self, path: str, filter: Filter, target: str, *, recursive: bool) -> WatchRecord:
        tree = DirectoryTree(path, filter, recursive=recursive)
        number, self._number = self._number, self._number + 1
        version = f"{self._runtime}-{target}-{number}"
        watch = DirectoryWatch(f"w-{target[:8]}-{number}", to_text(path), tree, self._disk, version)
        record = WatchRecord(watch, target, number)
        self._records.add(record)
        self._tasks.start(self._run(record))
        return record

    def _position(self, record: WatchRecord | None, target: str, since: str | None) -> LogPosition:
        """Return the position of the version `since`. Raises `invalid_params` if it belongs to another watch."""
        end = 0 if record is None else record.watch.log.end
        if since is None:
            return LogPosition(end)
        found = _VERSION.fullmatch(since)
        if found is None or found[2] != target:
            raise _invalid_version("`since` is not a version from a watch with these parameters")
        number, cursor = int(found[3]), int(found[4])
        if found[1] != self._runtime:
            return LogPosition(end, "restarted")
        if record is not None and number == record.number:
            if cursor > end:
                raise _invalid_version(f"`since` is at change {cursor}, beyond the last change ({end})")
            return LogPosition(cursor)
        if number >= self._number:
            raise _invalid_version(f"`since` refers to watch {number}, which does not exist yet")
        return LogPosition(end, "expired")

    def _touch(self, record: WatchRecord) -> None:
        """Restart the retention period of a watch without readers. Watches with readers are always kept."""
        self._records.resume(record)
        if not record.watch.readers:
            self._records.end(record)

    async def _run(self, record: WatchRecord) -> None:
        try:
            await record.watch.run()
        finally:
            self._records.drop(record)


def _globs(texts: list[str]) -> list[str]:
    try:
        return [from_text(text) for text in texts]
    except ValueError as error:
        raise HawseError("invalid_params", str(error), details={"path": "$.include"}) from None


def _invalid_version(message: str) -> HawseError:
    return HawseError("invalid_params", message, details={"path": "$.since"})
