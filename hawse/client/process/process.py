"""The handle for a process: output, input, waiting and signals."""

import asyncio
from collections.abc import Mapping
from types import TracebackType
from typing import Self

from hawse.api import Params
from hawse.api.processes import (
    LogCondition,
    LogMatch,
    PortCondition,
    ProcessGet,
    ProcessInfo,
    ProcessKill,
    ProcessSignal,
    ProcessWait,
    ProcessWaitResult,
    Since,
)
from hawse.api.types import Exit, StreamName
from hawse.client.base.call_errors import DeadlineExceededError, ForbiddenError
from hawse.client.base.errors import ClientClosedError
from hawse.client.calls.call_table import CallTable, R
from hawse.client.calls.input_stream import BytesLike
from hawse.client.process.attach import ProcessAttachCall
from hawse.client.process.output import ProcessOutput
from hawse.client.process.wait import ProcessWaitCall
from hawse.wire import HawseError, RemoteProtocolError

GONE = frozenset({"not_found", "exited", "stale_handle"})  # error codes that mean that the process has ended


class Process(ProcessOutput):
    """A process this client is attached to. The process keeps running after `close`.

    Leaving `async with` closes the handle. It also kills the process if it was started by this handle, unless `detach`
    was called.
    """

    def __init__(
        self, calls: CallTable, call: ProcessAttachCall, sandbox: str, *, stdin: bool = True, owned: bool = False
    ) -> None:
        """Create a handle.

        Args:
            calls: The client's calls.
            call: The call that attaches the client.
            sandbox: The sandbox the process runs in.
            stdin: False if the process is known to read from /dev/null.
            owned: Whether this handle started it.
        """
        super().__init__(calls, call, sandbox)
        self._stdin = stdin
        self._detached = not owned

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.id!r} in sandbox {self._sandbox!r}>"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self._detached and not self._call.settled:
                await self.kill()
        except HawseError as failure:
            if failure.code not in GONE:
                raise
        finally:
            self.close()

    @property
    def id(self) -> str:
        """The id of the process."""
        return self._call.id

    @property
    def instance(self) -> str:
        """Distinguishes processes with the same id: each newly started process is a new instance."""
        return self._call.instance or ""

    @property
    def pid(self) -> int:
        """The process id inside the sandbox."""
        return self._call.info.pid if self._call.info else 0

    # ---- input

    async def write(self, data: BytesLike) -> None:
        """Write to stdin and return once the bytes are buffered. Waits if the program reads slowly.

        Raises:
            HawseError: The call failed; `exited` if the process has ended. If the process was started without `stdin`,
                `forbidden` if this client started it, otherwise `protocol_error`.
        """
        if not self._stdin:  # writing would close the channel, which also carries the output
            raise ForbiddenError("the process reads from /dev/null: start it with stdin=True")
        await self._call.input_stream.write(data)

    async def flush(self) -> None:
        """Wait until the sandbox has received all bytes written."""
        await self._call.input_stream.flush()

    async def end(self) -> None:
        """Send EOF on stdin after all bytes written so far."""
        await self._call.input_stream.end()

    # ---- lifecycle

    async def wait(self, *, timeout: float | None = None) -> Exit:
        """Wait until the process has ended and its output has arrived. Returns its exit status.

        Unread output can still be read afterwards, as long as the sandbox keeps it.

        Args:
            timeout: Time limit for the wait, in seconds; None means no limit. The process itself continues.

        Raises:
            TruncatedError: The last bytes of its output are no longer kept.
            ClientClosedError: After `close`.
            HawseError: The call failed; `deadline_exceeded` if the time limit is reached.
        """
        with self._call.receive_buffer.without_readers():
            try:
                async with asyncio.timeout(timeout):
                    exit_: Exit = await self._calls.outcome(self._call)
            except TimeoutError as error:
                if isinstance(error, HawseError):
                    raise
                raise DeadlineExceededError(f"the process has not ended within {timeout} s", admitted="yes") from None
        return exit_

    async def info(self) -> ProcessInfo:
        """Return the process's current state. Raises `not_found`."""
        return await self._request(ProcessGet(id=self.id))

    async def wait_for_log(
        self,
        text: str | None = None,
        *,
        pattern: str | None = None,
        stream: StreamName | None = None,
        since: Mapping[StreamName, int] | None = None,
        timeout: float = 30.0,
    ) -> LogMatch:
        """Wait until the process has printed `text`, or a match for `pattern`.

        Args:
            text: Literal text to search for.
            pattern: A regular expression in RE2 syntax.
            stream: The stream to search; None means both.
            since: The offset in each stream where the search starts; None means all output that is still kept.
            timeout: Time limit in seconds.

        Raises:
            HawseError: `exited` if the process ends without a match (`details["exit"]` is the `Exit`),
                `deadline_exceeded`, `invalid_params`, `not_found`, `stale_handle`, and the error that closed the
                client.
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
        """Wait until a program is listening on `port` in the sandbox or, with `path`, until it responds to an HTTP GET.

        Args:
            port: The TCP port.
            path: The path to request.
            status: The lowest and highest HTTP status that count as a response.
            timeout: Time limit in seconds.

        Returns:
            The status of the response; None if `path` is not set.

        Raises:
            HawseError: `exited` if the process ends first, and the same errors as `wait_for_log`.
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
        """End the process tree: SIGTERM (or `signal`), then SIGKILL after `grace` seconds (by default 5).

        Returns the process's exit status.
        """
        params = ProcessKill(id=self.id, instance=self.instance, signal=signal, grace=grace)
        return (await self._request(params)).exit

    def detach(self) -> None:
        """Keep the process running when leaving the `async with` block."""
        self._detached = True

    def close(self) -> None:
        """Stop reading and writing. The process keeps running."""
        for reread in self._rereads.values():
            reread.close()
        self._calls.abandon(self._call, ClientClosedError("this handle was closed"))

    async def _wait_for(self, wait: ProcessWait, timeout: float) -> ProcessWaitResult:
        waited: ProcessWaitResult = await self._calls.perform(
            ProcessWaitCall(wait, sandbox=self._sandbox, timeout=timeout)
        )
        return waited

    async def _request(self, params: Params[R]) -> R:
        return await self._calls.request(params, sandbox=self._sandbox)
