"""Changes in a directory, as an iterator that picks up where it left off after a reconnect."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import msgspec

from hawse.api.paths import from_text, to_text
from hawse.api.watches import (
    WatchChanges,
    WatchChangesResult,
    WatchedChange,
    WatchedChanges,
    WatchRescan,
    WatchStart,
    WatchStarted,
    WatchStop,
)
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable
from hawse.client.calls.receive_buffer import ReceiveBuffer
from hawse.client.calls.sandbox_part import SandboxPart
from hawse.client.calls.stream_handle import StreamHandle
from hawse.client.files.changes import PathLike, wire_path
from hawse.wire import Event

LANE = "watch"


class WatchItem(NamedTuple):
    """An entry in the receive buffer."""

    item: WatchedChange | WatchRescan
    version: str | None  # the watch's version after this change; None unless it is the last change in an event


class WatchCall(ClientCall):
    """A call to `watch.start`. A repeated call requests the changes since the last event."""

    def __init__(self, params: WatchStart, *, sandbox: str, window: int) -> None:
        super().__init__(params, sandbox=sandbox, repeats=True)
        self.receive_buffer: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.watching: WatchStarted | None = None
        self._start = params
        self._version = params.since  # the version after the last event

    def params(self) -> WatchStart:
        return msgspec.structs.replace(self._start, since=self._version)

    def receive_event(self, event: Event) -> None:
        cost = event_cost(event)
        match self.decode(event):
            case WatchStarted() as started:
                self.watching = started
                self._version = self._version or started.version
                self.mark_opened()
                self.spend(cost)
            case WatchRescan() as rescan:
                self._put([rescan], rescan.version, cost)
            case WatchedChanges() as changed:
                self._put(_local(changed.changes), changed.version, cost)
            case _:
                self.spend(cost)

    def _put(self, items: Sequence[WatchedChange | WatchRescan], version: str, cost: int) -> None:
        self._version = version
        for item in items[:-1]:
            self.receive_buffer.put(LANE, WatchItem(item, None))
        self.receive_buffer.put(LANE, WatchItem(items[-1], version), cost)


class Watch(StreamHandle[WatchCall, WatchedChange | WatchRescan]):
    """`async with box.watches.start(path) as watch: async for change in watch: …`

    Yields each `WatchedChange`, and a `WatchRescan` if changes may have been missed and the directory must be listed.
    Raises `not_found` if the directory is deleted. Ends when a client stops the watch.
    """

    def __init__(self, calls: CallTable, call: WatchCall) -> None:
        super().__init__(calls, call)
        self.version = ""  # version after the last change that was read; pass it as `since` to continue from there

    async def __aenter__(self) -> Self:
        """Start the watch. Changes made from now on are reported. Raises `not_found`, `not_directory`,
        `limit_exceeded`.
        """
        await super().__aenter__()
        self.version = self._watching.version
        return self

    @property
    def id(self) -> str:
        """The id of the watch."""
        return self._watching.id

    @property
    def path(self) -> str:
        """The directory, as an absolute path."""
        return from_text(self._watching.path)

    async def stop(self) -> None:
        """End the watch for all its clients. It is not an error if the watch has ended."""
        await self._calls.request(WatchStop(id=self.id), sandbox=self._call.sandbox)

    async def _next(self) -> WatchedChange | WatchRescan:
        _, item = await self._call.receive_buffer.get(LANE)
        assert isinstance(item, WatchItem)
        self.version = item.version or self.version
        return item.item

    @property
    def _watching(self) -> WatchStarted:
        assert self._call.watching is not None
        return self._call.watching


class Watches(SandboxPart):
    """A sandbox's watches. The handle doesn't have to be closed."""

    def start(
        self,
        path: PathLike,
        *,
        recursive: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        since: str | None = None,
    ) -> Watch:
        """Return a watch for a directory, to enter with `async with`. See `Watch`.

        Entering the watch does not start a sleeping sandbox, but waits until another call has started it.

        Args:
            path: The directory.
            recursive: Whether to watch subdirectories as well.
            include: Globs (`*`, `?`, `[…]`, `**`) for files to report; None means all. A glob with a slash matches the
                path relative to the directory; a glob without a slash matches names at any depth.
            exclude: Globs for files to ignore; None means Git's and hawse's own files.
            since: The `version` to continue from; None means from now on.
        """
        params = WatchStart(**_target(path, recursive, include, exclude), since=since)
        return Watch(self._calls, WatchCall(params, sandbox=self._sandbox, window=self._window))

    async def changes(
        self,
        path: PathLike,
        *,
        recursive: bool = True,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        since: str | None = None,
    ) -> WatchChangesResult:
        """Return the changes since a version, and the version for the next call.

        A watch ends 10 minutes after the last call; after that, the next result is `rescan`.

        Args:
            path: The directory.
            recursive: The same as in `start`.
            include: The same as in `start`.
            exclude: The same as in `start`.
            since: The version in the previous result; None starts a watch.

        Raises:
            HawseError: The same errors as `Watch`.
        """
        params = WatchChanges(**_target(path, recursive, include, exclude), since=since)
        state = await self._request(params)
        state.changes = _local(state.changes)
        return state


def _local(changes: Sequence[WatchedChange]) -> list[WatchedChange]:
    """Return the changes with their paths decoded."""
    return [msgspec.structs.replace(change, path=from_text(change.path)) for change in changes]


def _target(
    path: PathLike, recursive: bool, include: Sequence[str] | None, exclude: Sequence[str] | None
) -> dict[str, Any]:
    """The fields of `hawse.api.watches.WatchTarget`."""
    return {
        "path": wire_path(path),
        "recursive": recursive,
        "include": None if include is None else [to_text(glob) for glob in include],
        "exclude": None if exclude is None else [to_text(glob) for glob in exclude],
    }
