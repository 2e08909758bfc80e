"""The handle of a process: its output, its input, waiting for it, signals and its end."""

from collections.abc import Mapping
from typing import cast

from hawse.api import Params
from hawse.api.processes import (
    LogCondition,
    LogMatch,
    PortCondition,
    ProcessAttach,
    ProcessKill,
    ProcessSignal,
    ProcessWait,
    ProcessWaitResult,
    Since,
)
from hawse.api.types import Exit, StreamName
from hawse.client.base.causes import ForbiddenError
from hawse.client.base.errors import ClientClosedError, TruncatedError
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.input_stream import BytesLike
from hawse.client.calls.iterators import OutputIterator
from hawse.client.calls.receive_buffer import BufferedChunk, DiscardedRange
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.reread import Reread
from hawse.client.process.wait import LONGEST, ProcessWaitCall
from hawse.wire import HawseError, RemoteProtocolError

REREAD_WINDOW = 256 << 10  # bytes that may arrive before they are read, of output that is read again
GONE = frozenset({"not_found", "exited", "stale_handle"})  # there is nothing left to kill


class Process:
    """A process that this client is attached to. It keeps running after `close`."""

    def __init__(self, calls: CallTable, call: ProcessAttachCall, sandbox: str, *, stdin: bool = True) -> None:
        """Create a handle.

        Args:
            calls: The calls of the client.
            call: The call by which the client is attached.
            sandbox: The sandbox that the process runs in.
            stdin: False if the process is known to read from /dev/null.
        """
        self._calls = calls
        self._call = call
        self._sandbox = sandbox
        self._stdin = stdin
        self._detached = False
        self._rereads: dict[StreamName, Reread] = {}  # what comes before the next bytes of a stream

    @property
    def id(self) -> str:
        return self._call.id

    @property
    def instance(self) -> str:
        """Distinguishes processes of the same id: new for each that is started."""
        return self._call.instance or ""

    @property
    def pid(self) -> int:
        """The process id, in the sandbox's numbering."""
        return self._call.info.pid if self._call.info else 0

    # ---- output

    def output(self) -> OutputIterator[tuple[StreamName, bytes]]:
        """Iterate over `(stream, bytes)` in the order of arrival, to the end of both streams.

        The server sends at most a window of bytes ahead of the reader.

        Iterating raises `TruncatedError` where bytes are no longer kept (iterating again continues after them),
        `BusyError` if another task reads the same stream, and the call's error.
        """
        return OutputIterator(self._call.receive_buffer, lambda: self._next(None))

    @property
    def stdout(self) -> OutputIterator[bytes]:
        """Iterate over stdout alone. Both streams share a window: if there may be much of stderr, read that as well."""
        return OutputIterator(self._call.receive_buffer, lambda: self._next_of("stdout"))

    @property
    def stderr(self) -> OutputIterator[bytes]:
        """Iterate over stderr alone."""
        return OutputIterator(self._call.receive_buffer, lambda: self._next_of("stderr"))

    async def _next(self, lane: StreamName | None) -> tuple[StreamName, bytes]:
        while True:
            reread = next(iter(self._rereads), None) if lane is None else lane
            if reread in self._rereads:
                if data := await self._rereads[reread].read():
                    return reread, data
                self._rereads.pop(reread).close()
            found, item = await self._call.receive_buffer.get(lane)
            stream = cast(StreamName, found)
            if isinstance(item, TruncatedError):
                raise item
            if isinstance(item, BufferedChunk):
                return stream, bytes(item.data)
            assert isinstance(item, DiscardedRange)
            self._rereads[stream] = self._reread(stream, item)

    def _reread(self, stream: StreamName, part: DiscardedRange) -> Reread:
        process = ProcessAttach(id=self.id, instance=self.instance)
        return Reread(self._calls, process, sandbox=self._sandbox, stream=stream, part=part, window=REREAD_WINDOW)

    async def _next_of(self, lane: StreamName) -> bytes:
        return (await self._next(lane))[1]

    # ---- input

    async def write(self, data: BytesLike) -> None:
        """Write to stdin; return when the bytes are buffered. Waits while the program reads slowly.

        Raises:
            HawseError: `exited` if the process has ended; `forbidden` if this client started it without `stdin`, and
                `protocol_error` if another client did; the call's error.
        """
        if not self._stdin:  # the server would end the channel, and the output with it
            raise ForbiddenError("the process reads from /dev/null: start it with stdin=True")
        await self._call.input_stream.write(data)

    async def flush(self) -> None:
        """Wait until the sandbox has received everything written."""
        await self._call.input_stream.flush()

    async def end(self) -> None:
        """Send EOF on stdin, after what was written."""
        await self._call.input_stream.end()

    # ---- life

    async def wait(self) -> Exit:
        """Wait until the process has ended and its output has arrived; return how it ended.

        Output that is not read meanwhile can be read afterwards, as far as the sandbox keeps it.

        Raises:
            TruncatedError: The last bytes of its output are no longer kept.
            ClientClosedError: After `close`.
            HawseError: The call's error.
        """
        with self._call.receive_buffer.without_readers():
            exit_: Exit = await self._calls.outcome(self._call)
            return exit_

    async def wait_for_exit(self, *, timeout: float = LONGEST) -> Exit:
        """Wait until the process has ended, at most `timeout` seconds. Its output stays where it is.

        Raises:
            HawseError: `deadline_exceeded`; `not_found` and `stale_handle` if it is no longer kept; what closed the
                client.
        """
        waited = await self._wait_for(ProcessWait(id=self.id, instance=self.instance, exit=True), timeout)
        if waited.exit is None:
            raise RemoteProtocolError("the result of process.wait lacks its `exit`")
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
        """Wait until the process has printed `text`, or a match of `pattern`.

        Args:
            text: Is searched for as it is.
            pattern: A regular expression in RE2's syntax.
            stream: The stream to search; None: both.
            since: The offset in each stream to search from; None: all that is kept.
            timeout: Seconds.

        Raises:
            HawseError: `exited` if the process ends without a match (`details["exit"]` is the `Exit`),
                `deadline_exceeded`, `invalid_params`, and as `wait_for_exit`.
        """
        given = None if since is None else Since(stdout=since.get("stdout"), stderr=since.get("stderr"))
        log = LogCondition(text=text, pattern=pattern, stream=stream, since=given)
        waited = await self._wait_for(ProcessWait(id=self.id, instance=self.instance, log=log), timeout)
        if waited.match is None:
            raise RemoteProtocolError("the result of process.wait lacks its `match`")
        return waited.match

    async def wait_for_port(
        self, port: int, *, path: str | None = None, status: tuple[int, int] = (200, 399), timeout: float = 30.0
    ) -> int | None:
        """Wait until a program listens at `port` in the sandbox; with `path`, until it answers an HTTP GET.

        Args:
            port: The TCP port.
            path: The path to request.
            status: The lowest and the highest HTTP status that count as an answer.
            timeout: Seconds.

        Returns:
            The status of the answer; None without `path`.

        Raises:
            HawseError: `exited` if the process ends first, and as `wait_for_log`.
        """
        condition = PortCondition(port=port, path=path, status=status)
        wait = ProcessWait(id=self.id, instance=self.instance, port=condition)
        return (await self._wait_for(wait, timeout)).status

    async def signal(self, signal: str | int) -> None:
        """Send a signal to the process group: "INT", "SIGINT" or a number.

        Raises:
            HawseError: `exited`, `not_found`, `stale_handle`.
        """
        await self._request(ProcessSignal(id=self.id, instance=self.instance, signal=signal))

    async def kill(self, *, signal: str | None = None, grace: float | None = None) -> Exit:
        """Send TERM (or `signal`) to the process tree, and KILL after `grace` seconds (5); return how it ended."""
        params = ProcessKill(id=self.id, instance=self.instance, signal=signal, grace=grace)
        return (await self._request(params)).exit

    def detach(self) -> None:
        """Let the process continue when the `async with` is left."""
        self._detached = True

    def close(self) -> None:
        """Stop reading and writing. The process keeps running."""
        for reread in self._rereads.values():
            reread.close()
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))

    async def leave(self) -> None:
        """End `async with box.process(…)`: kill the process if it runs, unless `detach` was called, and `close`."""
        try:
            if not self._detached and not self._call.settled:
                await self.kill()
        except HawseError as error:
            if error.code not in GONE:
                raise
        finally:
            self.close()

    async def _wait_for(self, wait: ProcessWait, timeout: float) -> ProcessWaitResult:
        waited: ProcessWaitResult = await self._calls.perform(
            ProcessWaitCall(wait, sandbox=self._sandbox, timeout=timeout)
        )
        return waited

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
