"""A directory watch: the task that reads kernel events into a log, and the streams that send changes from it."""

import asyncio
from collections.abc import Callable
from typing import Any

from hawse.api.watches import RescanReason, WatchedChange, WatchedChanges, WatchRescan, WatchStarted, WatchStartResult
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.watch.change_log import KEPT, ChangeLog, merge
from hawse_runtime.watch.directory_tree import DirectoryTree, OverflowedError

COALESCE = 0.05  # seconds that a change waits to be merged with later changes to the same path


class DirectoryWatch:
    """Watches one directory for all streams with the same parameters. Start `run` once, as a task."""

    def __init__(self, id: str, path: str, tree: DirectoryTree, disk: ThreadPool, version: str) -> None:
        """Create a watch. `path` is sent to clients; `version` is the prefix for all of this watch's versions."""
        self.id = id
        self.path = path
        self.log = ChangeLog()
        self.readers: dict[WatchStream, None] = {}
        self.live = asyncio.Event()  # set once changes are being recorded or the watch has ended
        self.end: WatchStartResult | HawseError | None = None  # the reason why the watch is ending or has ended
        self.over = False  # whether the watch has ended with all its changes in the log
        self._tree = tree
        self._disk = disk
        self._version = version
        self._pending: dict[str, WatchedChange] = {}  # changes not yet in the log
        self._settling: list[asyncio.Future[None]] = []
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()

    def version(self, cursor: int) -> str:
        return f"{self._version}-{cursor}"

    async def run(self) -> None:
        """Watch until `stop` is called or the directory is deleted or moved. Sets `end` to the reason."""
        try:
            await self._disk.run(self._tree.open)
            self.live.set()
            self._notify()
            while self.end is None and not self._tree.root_removed:
                await self._readable()
                await self._step()
            self._finish(HawseError("not_found", f"{self.path} was deleted, moved or unmounted", admitted="yes"))
        except Exception as error:
            self._finish(typed(error, self.path))
        finally:
            self._tree.close()

    def stop(self) -> None:
        if self.end is None:
            self.end = WatchStartResult()
            self._wake.set()

    async def settle(self) -> None:
        """Return once all earlier changes are in the log. Raises any error that ended the watch."""
        await self.live.wait()
        if self.end is None:
            future = self._loop.create_future()
            self._settling.append(future)
            self._wake.set()
            await future
        if isinstance(self.end, HawseError):
            raise self.end

    # ---- internals

    async def _readable(self) -> None:
        """Wait until events are available or the watch should end."""
        if self._settling or self.end is not None:
            return
        self._wake.clear()
        fd = self._tree.fd
        self._loop.add_reader(fd, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            self._loop.remove_reader(fd)

    async def _step(self) -> None:
        settling, self._settling = self._settling, []
        try:
            for change in await self._disk.run(self._tree.take):
                merge(self._pending, change)
        except OverflowedError:
            # Reopen before notifying readers, so that a client that then scans the directory misses no later change.
            await self._disk.run(self._tree.reopen)
            self._pending.clear()
            self.log.lose()
            self._notify()
        finally:
            if settling or len(self._pending) > KEPT // 2:
                self._flush()
            elif self._pending and self._timer is None:
                self._timer = self._loop.call_later(COALESCE, self._flush)
            for future in settling:
                if not future.done():
                    future.set_result(None)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        pending, self._pending = self._pending, {}
        self.log.add(list(pending.values()))
        self._notify()

    def _finish(self, error: HawseError) -> None:
        self._flush()
        self.end = self.end or error
        self.over = True
        self.live.set()
        for future in self._settling:
            if not future.done():
                future.set_result(None)
        self._notify()

    def _notify(self) -> None:
        for reader in list(self.readers):
            reader.wake()


class WatchStream(OutputOnlyStream):
    """Serves a `watch.start` call. Its only state is a cursor on the log."""

    def __init__(
        self,
        watch: DirectoryWatch,
        call: ServerCall,
        cursor: int,
        reason: RescanReason | None,
        *,
        on_detach: Callable[[], object],
    ) -> None:
        """Create a stream for `call`.

        Args:
            cursor: The log position to start from.
            reason: Why changes before `cursor` are unavailable, if the client requested them.
            on_detach: Called when the channel is closed.
        """
        super().__init__(call)
        self._watch = watch
        self._cursor = cursor
        self._reason = reason
        self._opened = False  # whether the `watching` event was sent
        self._on_detach = on_detach
        watch.readers[self] = None

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        watch = self._watch
        if not watch.live.is_set():
            return False
        if watch.over and watch.end and (not self._opened or self._cursor == watch.log.end):
            self._finish(watch.end)
            return False
        if connection.window(ch) <= 0:
            return False
        name, value = self._next()
        if value is None:
            return False
        connection.send_event(ch, name, value)
        return True

    def detach(self) -> None:
        self._watch.readers.pop(self, None)
        self._on_detach()

    def _next(self) -> tuple[str, Any]:
        watch, log = self._watch, self._watch.log
        if not self._opened:
            self._opened = True
            return "watching", WatchStarted(id=watch.id, path=watch.path, version=watch.version(self._cursor))
        reason, self._reason = self._reason or log.missing(self._cursor), None
        if reason is not None:
            self._cursor = log.end
            return "rescan", WatchRescan(version=watch.version(log.end), reason=reason)
        if self._cursor == log.end:
            return "", None
        changes, self._cursor = log.read(self._cursor)
        return "changes", WatchedChanges(version=watch.version(self._cursor), changes=changes)

    def _finish(self, end: WatchStartResult | HawseError) -> None:
        if isinstance(end, HawseError):
            self._call.error(end)
        else:
            self._call.result(end)
