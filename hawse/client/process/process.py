"""Processes: started with a key, so that exactly one runs, and attached to by offsets, so that no byte is missed."""

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from hawse.api import Params
from hawse.api.processes import (
    LogMatch,
    ProcessAttachResult,
    ProcessKill,
    ProcessOpened,
    ProcessSignal,
    ProcessWaitResult,
    StreamTruncated,
)
from hawse.api.types import Exit, StreamName
from hawse.client.base.errors import ClientClosedError, TruncatedError
from hawse.client.calls.call import ClientCall, event_cost
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.decode import parse
from hawse.client.calls.input_stream import BytesLike, InputStream
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.offset_cursor import OffsetCursor
from hawse.client.calls.receive_buffer import BufferedChunk, ReceiveBuffer
from hawse.client.process.exec import STREAMS, check_complete
from hawse.client.process.wait import LONGEST, ProcessWaitCall
from hawse.wire import Data, Event, HawseError, Limits, RemoteProtocolError

GONE = frozenset({"not_found", "exited", "stale_handle"})  # nothing is left to kill


class ProcessCall(ClientCall):
    """`process.attach`, resumed by the offsets of both streams."""

    def __init__(
        self, sandbox: str, id: str, *, instance: str | None, since: Mapping[StreamName, int] | None, window: int
    ) -> None:
        params = {"id": id, "instance": instance, "lossless": True}
        super().__init__("process.attach", params, sandbox=sandbox, repeats=True)
        self.info: ProcessOpened | None = None  # since the first `opened`
        self.cursors = {kind: OffsetCursor((since or {}).get(name, 0)) for kind, name in STREAMS.items()}
        self._exact = since is not None  # bytes that are no longer kept are missed, not just never asked for
        self.inbox: ReceiveBuffer = ReceiveBuffer(window, self.grant)
        self.feed: InputStream = InputStream(Limits().input_window, self.wake)

    def params(self) -> dict[str, Any]:
        since = {name: self.cursors[kind].offset for kind, name in STREAMS.items()}
        return {**self.base, "since": since, "input": self.feed.id}

    def receive_event(self, event: Event) -> None:
        if event.name == "opened":
            self._opened(parse(event.value, ProcessOpened))
        elif event.name == "truncated":
            lost = parse(event.value, StreamTruncated)
            self._skip_to(lost.stream, lost.start)
        self.spend(event_cost(event))

    def _opened(self, opened: ProcessOpened) -> None:
        self.base["instance"] = opened.instance
        for kind, name in STREAMS.items():
            if self._exact:
                self._skip_to(name, getattr(opened.start, name))
            else:
                self.cursors[kind].offset = max(self.cursors[kind].offset, getattr(opened.start, name))
        self._exact = True
        self.info = self.info or opened
        self.feed.opened(opened.input_offset)
        self.mark_opened()

    def _skip_to(self, name: StreamName, offset: int) -> None:
        """The journal begins at `offset` now: what it lost before is told where it would have been read."""
        cursor = next(self.cursors[kind] for kind, other in STREAMS.items() if other == name)
        if offset > cursor.offset:
            self.inbox.put(name, TruncatedError(name, offset - cursor.offset))
            cursor.offset = offset

    def receive_data(self, data: Data) -> None:
        name = STREAMS.get(data.kind)
        new = self.cursors[data.kind].accept(data.offset, data.payload) if name else memoryview(b"")
        if name and new:
            self.inbox.put_bytes(name, data.offset + len(data.payload) - len(new), new)
        self.spend(len(data.payload) - len(new))

    def finished(self, value: msgspec.Raw) -> Exit:
        end = parse(value, ProcessAttachResult)
        check_complete(self.cursors, end)
        return end.exit


class Process:
    """A process that we are attached to. `close` leaves it running; so does `detach` for `async with sb.process(…)`."""

    def __init__(self, calls: CallTable, call: ProcessCall, sandbox: str, *, stdin: bool = True) -> None:
        """`stdin`: False if it is known to read from /dev/null."""
        self._calls = calls
        self._call = call
        self._sandbox = sandbox
        self._stdin = stdin
        self._detached = False

    @property
    def id(self) -> str:
        return str(self._call.base["id"])

    @property
    def instance(self) -> str:
        """Which process of that id: new for each that is started."""
        return str(self._call.base["instance"])

    @property
    def pid(self) -> int:
        """As the sandbox counts."""
        return self._call.info.pid if self._call.info else 0

    # ---- output

    def output(self) -> OutputIterator[tuple[StreamName, bytes]]:
        """Iterate over `(stream, bytes)` in the order of arrival, to the end of both streams.

        What is not read stops the server from sending more than a window. Raises `TruncatedError` where bytes
        are gone (iterating again goes on after them), `BusyError`, and the channel's error.
        """
        return OutputIterator(self._call.inbox, lambda: self._next(None))

    @property
    def stdout(self) -> OutputIterator[bytes]:
        """Iterate over stdout alone. Both streams share a window: read stderr as well if there may be much."""
        return OutputIterator(self._call.inbox, lambda: self._next_of("stdout"))

    @property
    def stderr(self) -> OutputIterator[bytes]:
        """Iterate over stderr alone."""
        return OutputIterator(self._call.inbox, lambda: self._next_of("stderr"))

    async def _next(self, lane: StreamName | None) -> tuple[StreamName, bytes]:
        stream, item = await self._call.inbox.get(lane)
        if isinstance(item, TruncatedError):
            raise item
        assert isinstance(item, BufferedChunk)
        return cast(StreamName, stream), bytes(item.data)

    async def _next_of(self, lane: StreamName) -> bytes:
        return (await self._next(lane))[1]

    # ---- input

    async def write(self, data: BytesLike) -> None:
        """Write to stdin; return when the bytes are kept for sending, which waits while the program reads slowly.

        Raises `HawseError("exited")` when it is gone, `forbidden` if it was started without `stdin`, and the
        channel's error: `protocol_error` if another started it without.
        """
        if not self._stdin:  # the server would end the channel, and output with it
            raise HawseError("forbidden", "its stdin is /dev/null: start it with stdin=True")
        await self._call.feed.write(data)

    async def flush(self) -> None:
        """Wait until the sandbox has taken everything written."""
        await self._call.feed.flush()

    async def end(self) -> None:
        """EOF on stdin, after what was written."""
        await self._call.feed.end()

    # ---- life

    async def wait(self) -> Exit:
        """Wait until it is gone and its output has come. Output that nobody reads may be dropped meanwhile.

        Raises the channel's error, `ClientClosedError` after `close`.
        """
        with self._call.inbox.without_readers():
            exit_: Exit = await self._calls.outcome(self._call)
            return exit_

    async def wait_for_exit(self, *, timeout: float = LONGEST) -> Exit:
        """Wait until it has ended, for at most `timeout` seconds. Its output stays where it is, to be read or not.

        Raises `deadline_exceeded`, `not_found` and `stale_handle` if it is no longer kept, and what ends a client.
        """
        waited = await self._wait_for({"exit": True}, timeout)
        if waited.exit is None:
            raise RemoteProtocolError("an end without an exit")
        return waited.exit

    async def wait_for_log(
        self,
        text: str | None = None,
        *,
        pattern: str | None = None,
        stream: StreamName | None = None,
        since: Mapping[StreamName, int] | None = None,
        timeout: float = 30.0,
    ) -> LogMatch:
        """Wait until it has printed `text`, or something that `pattern` (RE2's syntax) matches, in either stream.

        What was printed before counts as well, from the offsets `since` on, or all that is kept. Raises `exited` (the
        exit is in `details`) if it ends without, `deadline_exceeded`, `invalid_params`, and as `wait_for_exit`.
        """
        log = {"text": text, "pattern": pattern, "stream": stream, "since": dict(since) if since else None}
        waited = await self._wait_for({"log": log}, timeout)
        if waited.match is None:
            raise RemoteProtocolError("a match without a match")
        return waited.match

    async def wait_for_port(
        self, port: int, *, path: str | None = None, status: tuple[int, int] = (200, 399), timeout: float = 30.0
    ) -> int | None:
        """Wait until something listens at `port` in the sandbox, or with `path` answers a GET with such a status.

        Returns that status, None without `path`. Raises `exited` if the process ends first, and as `wait_for_log`.
        """
        return (await self._wait_for({"port": {"port": port, "path": path, "status": status}}, timeout)).status

    async def signal(self, signal: str | int) -> None:
        """Send a signal to the process group: "INT", "SIGINT" or a number. Raises `exited`, `not_found`."""
        await self._request(ProcessSignal(id=self.id, instance=self.instance, signal=signal))

    async def kill(self, *, signal: str | None = None, grace: float | None = None) -> Exit:
        """TERM (or `signal`), then KILL to the whole tree after `grace` seconds (5); return when it is gone."""
        params = ProcessKill(id=self.id, instance=self.instance, signal=signal, grace=grace)
        return (await self._request(params)).exit

    def detach(self) -> None:
        """Leave it running when the `async with` is left."""
        self._detached = True

    def close(self) -> None:
        """Stop reading and writing. The process goes on."""
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))

    async def leave(self) -> None:
        """The end of `async with sb.process(…)`: kill what still runs, unless `detach` was called, and `close`."""
        try:
            if not self._detached and not self._call.settled:
                await self.kill()
        except HawseError as error:
            if error.code not in GONE:
                raise
        finally:
            self.close()

    async def _wait_for(self, what: dict[str, Any], timeout: float) -> ProcessWaitResult:
        params = {"id": self.id, "instance": self.instance, **what}
        call = ProcessWaitCall(self._sandbox, params, timeout=timeout)
        waited: ProcessWaitResult = await self._calls.perform(call)
        return waited

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
