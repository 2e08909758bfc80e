"""Serves a call from a generator that runs in a thread, never more than one event or block ahead of the reader."""

from collections.abc import Generator
from typing import Any, NamedTuple

from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.rpc.output_stream import OutputOnlyStream
from hawse.wire import Connection, HawseError, Kind
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.rpc.stream_slots import StreamSlots


class StreamEvent(NamedTuple):
    """An event to send to the caller."""

    name: str
    value: Any


# The generator yields an event, a block of output (as large as its slot allows), or None to let other work run. It
# returns the call's result. However the call ends, the generator is closed, so that its `finally` blocks release
# resources.
Work = Generator[StreamEvent | bytes | None, None, Any]


class GeneratorStream(OutputOnlyStream):
    """Sends the items that a generator yields, then ends the call with its return value."""

    def __init__(
        self,
        call: ServerCall,
        work: Work,
        disk: ThreadPool,
        tasks: Tasks,
        slots: StreamSlots,
        *,
        offset: int = 0,
        subject: str | None = None,
    ) -> None:
        """Create the stream. The generator starts once a slot is free.

        Args:
            call: The call to serve.
            work: The generator to run.
            disk: The thread pool to run the generator in.
            tasks: Owns tasks that wait for the threads.
            slots: Limits the number of open generators.
            offset: The offset of the first byte of output.
            subject: The object that the call acts on, for error messages (see `hawse.rpc.typed`).
        """
        super().__init__(call)
        self.principal = call.principal
        self.busy = False  # whether one of the generator's steps is running
        self._work = work
        self._disk = disk
        self._tasks = tasks
        self._slots = slots
        self._offset = offset
        self._subject = subject
        self._event: StreamEvent | None = None  # the event or block that is waiting for credit
        self._block = memoryview(b"")
        self._over = False
        self._detached = False
        self._value: Any = None
        slots.enter(self)

    def begin(self) -> None:
        """Run the generator up to its first item. Called once the stream has a slot."""
        self._advance()

    def give_up(self) -> None:
        """End the call. Called when another stream needs the slot and this stream's client isn't reading."""
        self._call.error(HawseError("limit_exceeded", "too many streams are open, and this one is not being read"))

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        if self._over:
            self._call.result(self._value)  # sending a result needs no credit
        elif self.busy or connection.window(ch) <= 0:
            return False
        elif self._event is not None:
            event, self._event = self._event, None
            connection.send_event(ch, event.name, event.value)
            self._slots.progress(self)
            self._advance()
        elif self._block:
            part = self._block[: min(size, connection.window(ch))]
            connection.send_data(ch, Kind.OUTPUT, self._offset, part)
            self._offset += len(part)
            self._slots.progress(self)
            self._block = self._block[len(part) :]
            if self._block:
                return True
            self._advance()
        return False

    def detach(self) -> None:
        self._detached = True
        if not self.busy:
            self._tasks.start(self._close())

    def _advance(self) -> None:
        self.busy = True
        self._tasks.start(self._run())

    async def _run(self) -> None:
        failure = None
        try:
            while not (self._detached or self._over or self._event or self._block):
                self._take(*await self._disk.step(self._work))
        except Exception as error:
            failure = typed(error, self._subject)
        self.busy = False
        if failure is not None:
            self._call.error(failure)
        if self._detached:
            await self._close()
        else:
            self._call.wake()

    async def _close(self) -> None:
        """Close the generator, then release its slot."""
        try:
            await self._disk.run(self._work.close)
        finally:
            self._slots.leave(self)

    def _take(self, over: bool, item: Any) -> None:
        if over:
            self._over, self._value = True, item
        elif isinstance(item, StreamEvent):
            self._event = item
        elif item:
            self._block = memoryview(item)
