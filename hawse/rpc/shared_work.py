"""Slow work that several calls can share, such as a call and its repetition after a reconnect."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from hawse.rpc.errors import typed
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError

if TYPE_CHECKING:
    from hawse.rpc.call import ServerCall

P = TypeVar("P")  # the value in a `progress` event

Work = Callable[[Callable[[P], None]], Awaitable[object]]  # called with a function that reports progress


class SharedWork(Generic[P]):
    """Work in progress and the calls waiting for it. The work is cancelled when the last call stops waiting.

    Attributes:
        progress: The most recently reported progress.
        result: The result or the error; None while the work is running.
        task: The task that does the work.
    """

    def __init__(
        self,
        tasks: asyncio.TaskGroup,
        work: Work[P],
        *,
        name: str,
        on_end: Callable[[Any], object] = lambda result: None,
        patience: float | None = None,
    ) -> None:
        """Start `work`.

        Args:
            tasks: The task group for its task.
            work: The coroutine. Its result must not be None.
            name: The task's name.
            on_end: Called once with the result or the error (`HawseError`), before the calls get it.
            patience: Seconds the work continues without a call, in case a call is repeated; None means 0.
        """
        self.progress: P | None = None
        self.result: Any = None
        self._on_end = on_end
        self._patience = patience
        self._streams: dict[WorkStream, None] = {}  # an ordered set
        self._timer: asyncio.TimerHandle | None = None
        self.task = tasks.create_task(self._run(work), name=name)
        self.task.add_done_callback(self._ended)

    @property
    def joinable(self) -> bool:
        """Whether further calls can share the work: it has neither ended nor been cancelled."""
        return not (self.task.done() or self.task.cancelling())

    def cancel(self) -> None:
        """Cancel the work, but only once, because a second cancellation would interrupt its cleanup."""
        if self.joinable:
            self.task.cancel()

    def add(self, stream: "WorkStream") -> None:
        self._streams[stream] = None
        self._stop_timer()

    def remove(self, stream: "WorkStream") -> None:
        del self._streams[stream]
        if self._streams or self.task.done():
            return
        if self._patience is None:
            self.cancel()
        else:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self.cancel)

    async def _run(self, work: Work[P]) -> object:
        try:
            return await work(self._report)
        except asyncio.CancelledError:
            return HawseError("cancelled", "the work was cancelled", admitted="yes")
        except Exception as error:
            return typed(error)

    def _report(self, progress: P) -> None:
        self.progress = progress
        self._wake()

    def _ended(self, task: asyncio.Task[object]) -> None:
        self._stop_timer()
        before_start = task.cancelled()
        self.result = HawseError("cancelled", "the work was cancelled") if before_start else task.result()
        self._on_end(self.result)
        self._wake()

    def _wake(self) -> None:
        for stream in list(self._streams):
            stream.wake()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class WorkStream(OutputOnlyStream):
    """Serves one of the calls that share the work. Sends the latest progress when there is credit, and finally the
    result.
    """

    def __init__(self, call: "ServerCall", work: SharedWork[Any]) -> None:
        super().__init__(call)
        self._work = work
        self._sent: object = None
        work.add(self)

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        progress, result = self._work.progress, self._work.result
        if progress is not self._sent and connection.window(ch) > 0:
            self._sent = progress
            connection.send_event(ch, "progress", progress)
        if isinstance(result, HawseError):
            self._call.error(result)
        elif result is not None:
            self._call.result(result)
        return False

    def detach(self) -> None:
        self._work.remove(self)
