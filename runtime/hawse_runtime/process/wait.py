"""`process.wait`: waits for a process's exit, a match in its output, an open port, or the timeout.

Like a lossless reader, a wait can read from disk and slows down the program, so that the wait misses no output.
"""

import asyncio
from collections.abc import Callable

from hawse.api.processes import (
    LogMatch,
    PortCondition,
    ProcessWait,
    ProcessWaitOpened,
    ProcessWaitResult,
    StreamOffsets,
)
from hawse.api.types import Exit, StreamName
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError
from hawse_runtime.core.output_matcher import Matcher
from hawse_runtime.core.output_search import OutputSearch, SearchContext
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.process.attach import beginning
from hawse_runtime.process.output_stream import OutputStream, StreamCursor
from hawse_runtime.process.port_probe import until_open
from hawse_runtime.process.process import Process

DEFAULT_TIMEOUT = 30.0  # default timeout in seconds
LAST_LINE = 400  # number of bytes of output quoted in the error if a process has ended


class LogSearch(OutputSearch):
    """Searches an output stream, slowing down the program so that no output is missed."""

    def __init__(
        self,
        name: StreamName,
        stream: OutputStream,
        since: int,
        matcher: Matcher,
        context: SearchContext,
        *,
        found: Callable[[LogMatch], object],
        searched: Callable[[], object],
    ) -> None:
        """Create a search, which starts on the first `wake`. For the other arguments, see `OutputSearch`.

        Args:
            name: The output stream's name.
            stream: The output stream.
            since: The offset to search from.
        """
        self._stream_cursor = StreamCursor(stream, since, self.wake)
        self._stream_cursor.lost()
        super().__init__(
            self._stream_cursor,
            matcher,
            context,
            found=lambda match: found(LogMatch(stream=name, **match._asdict())),
            searched=searched,
        )
        self.name = name
        self.start = self._stream_cursor.offset
        stream.pacer.add(self._stream_cursor)

    def close(self) -> None:
        """End the search, which then no longer slows down the program."""
        super().close()
        self._stream_cursor.stream.pacer.remove(self._stream_cursor)
        self._stream_cursor.close()


class ProcessWaitStream(OutputOnlyStream):
    """Serves a `process.wait` call, which returns no output bytes."""

    def __init__(
        self, process: Process, call: ServerCall, params: ProcessWait, context: SearchContext, tasks: Tasks
    ) -> None:
        """Create the stream. Call `begin` to start waiting.

        Args:
            process: The process to observe.
            call: The call to serve.
            params: The conditions to wait for.
            context: Runs the searches.
            tasks: Owns the task that probes the port.

        Raises:
            HawseError: `invalid_params` if no condition is set or the pattern is invalid, `too_large` if the pattern is
                too complex.
        """
        if not (params.exit or params.log or params.port):
            raise HawseError("invalid_params", "at least one of `exit`, `log` and `port` is required")
        super().__init__(call)
        self._process = process
        self._exit_wanted = bool(params.exit)
        self._port = params.port
        self._tasks = tasks
        self._probe: asyncio.Task[None] | None = None
        self._opened = self._over = False
        self._searches = self._make_searches(params, context)
        self._start = StreamOffsets(**{search.name: search.start for search in self._searches})
        self._timer = asyncio.get_running_loop().call_later(params.timeout or DEFAULT_TIMEOUT, self._time_out)
        process.readers[self] = None

    def begin(self) -> None:
        """Check the conditions for the first time. Call this after `call.serve` has returned."""
        if self._port is not None and self._process.exit is None:
            self._probe = self._tasks.start(self._look(self._port))
        self.wake()

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if not self._opened and connection.window(ch) > 0:
            self._opened = True
            connection.send_event(ch, "opened", ProcessWaitOpened(start=self._start))
        return False

    def detach(self) -> None:
        """Stop waiting. Called once the call is closed."""
        self._over = True
        self._timer.cancel()
        self._process.readers.pop(self, None)
        for search in self._searches:
            search.close()
        if self._probe is not None:
            self._probe.cancel()

    # ---- watching

    def wake(self) -> None:
        """Handle new output or the process's exit."""
        for search in self._searches:
            search.wake()
        self._check_end()

    def _check_end(self) -> None:
        """End the call if the process has ended and all its output has been searched."""
        exit = self._process.exit
        if self._over or exit is None or not all(search.at_end for search in self._searches):
            return
        if self._exit_wanted:
            self._finish(ProcessWaitResult(event="exit", exit=exit))
        else:
            details = {"exit": exit, "stdout": self._process.stdout.end, "stderr": self._process.stderr.end}
            self._over = True
            self._call.error(HawseError("exited", how_it_ended(self._process, exit), admitted="yes", details=details))

    async def _look(self, port: PortCondition) -> None:
        status = await until_open(port.port, port.path, port.status)
        if not self._over and self._process.exit is None:
            self._finish(ProcessWaitResult(event="port", status=status))

    def _time_out(self) -> None:
        self._finish(ProcessWaitResult(event="timeout"))

    def _finish(self, value: ProcessWaitResult) -> None:
        if not self._over:
            self._over = True
            self._call.result(value)

    def _make_searches(self, params: ProcessWait, context: SearchContext) -> list[LogSearch]:
        log = params.log
        if log is None:
            return []
        if (log.text is None) == (log.pattern is None):
            raise HawseError("invalid_params", "specify either `text` or `pattern`", details={"path": "$.log"})
        since = beginning(self._process, log.since)
        literal = log.text is not None
        try:
            matchers = {name: Matcher(log.text or log.pattern or "", literal=literal) for name in _names(log.stream)}
        except HawseError as error:
            where = {"path": "$.log.text" if literal else "$.log.pattern"}
            raise HawseError(error.code, error.message, details=where) from None
        return [
            LogSearch(
                name,
                self._process.stdout if name == "stdout" else self._process.stderr,
                since.stdout if name == "stdout" else since.stderr,
                matcher,
                context,
                found=lambda match: self._finish(ProcessWaitResult(event="log", match=match)),
                searched=self._check_end,
            )
            for name, matcher in matchers.items()
        ]


def how_it_ended(process: Process, exit: Exit) -> str:
    """Describe a process's unexpected end, quoting its last line of output."""
    how = f"by {exit.signal}" if exit.code is None else f"with exit code {exit.code}"
    for stream in (process.stderr.journal, process.stdout.journal):
        end = stream.copy(max(stream.start, stream.end - LAST_LINE), stream.end)
        if lines := end.decode(errors="replace").split("\n") if end.strip() else []:
            line = next(line for line in reversed(lines) if line.strip()).strip()
            return f"the process ended before the condition was met, {how}: {line}"
    return f"the process ended before the condition was met, {how}"


def _names(stream: StreamName | None) -> tuple[StreamName, ...]:
    return ("stdout", "stderr") if stream is None else (stream,)
