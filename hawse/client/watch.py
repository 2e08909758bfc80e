"""What changes in a directory, as an iterator that reconnects do not interrupt: it goes on at the version it had."""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, NamedTuple

import msgspec

from hawse.api.paths import from_text, to_text
from hawse.api.watches import (
    WatchChanges,
    WatchChangesResult,
    WatchedChange,
    WatchedChanges,
    WatchRescan,
    WatchStarted,
    WatchStop,
)
from hawse.client.base.errors import ClientClosedError
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.decode import parse
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.files.files import PathLike, wire_path
from hawse.wire import Event

LANE = "watch"


class WatchItem(NamedTuple):
    """What lies in the inbox. `version`: the watch's after it, if it is the last of its event."""

    item: WatchedChange | WatchRescan
    version: str | None


class WatchCall(ClientCall):
    """`watch.start`: a repeat asks for what has changed since the last event that came."""

    def __init__(self, sandbox: str, params: dict[str, Any], *, since: str | None, window: int) -> None:
        super().__init__("watch.start", params, sandbox=sandbox, repeats=True)
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.watching: WatchStarted | None = None
        self._version = since  # of the last event that came

    def params(self) -> dict[str, Any]:
        return self.base if self._version is None else {**self.base, "since": self._version}

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        if event.name == "watching":
            self.watching = parse(event.value, WatchStarted)
            self._version = self._version or self.watching.version
            self.mark_opened()
            self.spend(cost)
        elif event.name == "rescan":
            rescan = parse(event.value, WatchRescan)
            self._put([rescan], rescan.version, cost)
        elif event.name == "changes":
            told = parse(event.value, WatchedChanges)
            changes = [msgspec.structs.replace(change, path=from_text(change.path)) for change in told.changes]
            self._put(changes, told.version, cost)
        else:
            self.spend(cost)

    def _put(self, items: Sequence[WatchedChange | WatchRescan], version: str, cost: int) -> None:
        self._version = version
        for item in items[:-1]:
            self.inbox.put(LANE, WatchItem(item, None))
        self.inbox.put(LANE, WatchItem(items[-1], version), cost)


class Watch:
    """`async with sandbox.watch(path) as watch: async for change in watch: …`

    Yields each `WatchedChange`, and a `WatchRescan` where some are not known: then look at the directory itself. Raises
    `not_found` when the directory is gone; ends when somebody stops the watch.
    """

    def __init__(self, calls: CallTable, call: WatchCall) -> None:
        self.version = ""  # after the change that was taken last: `since` of another watch goes on there
        self._calls = calls
        self._call = call

    async def __aenter__(self) -> "Watch":
        """When this returns the watch is live. Raises `not_found`, `not_directory`, `limit_exceeded`, …"""
        await self._calls.begin(self._call)
        self.version = self._watching.version
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))

    @property
    def id(self) -> str:
        return self._watching.id

    @property
    def path(self) -> str:
        """The directory, as an absolute path."""
        return from_text(self._watching.path)

    async def stop(self) -> None:
        """End it, for everybody who watches the same. Again, it does nothing."""
        await self._calls.request(WatchStop(id=self.id), sandbox=self._call.sandbox)

    def __aiter__(self) -> OutputIterator[WatchedChange | WatchRescan]:
        return OutputIterator(self._call.inbox, self._next)

    async def _next(self) -> WatchedChange | WatchRescan:
        _, item = await self._call.inbox.get(LANE)
        assert isinstance(item, WatchItem)
        self.version = item.version or self.version
        return item.item

    @property
    def _watching(self) -> WatchStarted:
        assert self._call.watching is not None
        return self._call.watching


class Watches:
    """The watches of a sandbox: `sandbox.watch(path)` streams changes, `sandbox.watch.changes(path, since=…)` asks."""

    def __init__(self, calls: CallTable, sandbox: str, *, window: int) -> None:
        self._calls = calls
        self._sandbox = sandbox
        self._window = window

    def __call__(
        self,
        path: PathLike,
        *,
        recursive: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        since: str | None = None,
    ) -> Watch:
        """What changes in a directory, for `async with`. See `Watch`.

        `include`, `exclude`: globs (`*`, `?`, `[…]`, `**`); one with a slash is for the path from the directory on, one
        without for the name at any depth. Without `exclude`, Git's and hawse's own files are left out. `since`: a
        `version`, to go on there.
        """
        params = _params(path, recursive, include, exclude)
        return Watch(self._calls, WatchCall(self._sandbox, params, since=since, window=self._window))

    async def changes(
        self,
        path: PathLike,
        *,
        recursive: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        since: str | None = None,
    ) -> WatchChangesResult:
        """What has changed since the version `since`, with the version to ask with next time.

        Without `since` it begins to watch. Whoever does not ask for 10 minutes is told to `rescan`.
        """
        params = WatchChanges(**_params(path, recursive, include, exclude), since=since)
        state = await self._calls.request(params, sandbox=self._sandbox)
        state.changes = [msgspec.structs.replace(change, path=from_text(change.path)) for change in state.changes]
        return state


def _params(
    path: PathLike, recursive: bool, include: Sequence[str] | None, exclude: Sequence[str] | None
) -> dict[str, Any]:
    return {
        "path": wire_path(path),
        "recursive": recursive,
        "include": None if include is None else [to_text(glob) for glob in include],
        "exclude": None if exclude is None else [to_text(glob) for glob in exclude],
    }
