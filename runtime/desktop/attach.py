"""Serves `desktop.attach`: a viewer's RFB connection to the X server, with its messages checked.

Each viewer has a connection of its own, which is read only as fast as the viewer takes it: a slow one holds up no
other, because the X server skips frames for it.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, cast

from hawse.api.desktop_values import DesktopAttachResult, DesktopOpened
from hawse.api.desktops import DesktopAttach
from hawse.api.people import ViewerProfile
from hawse.api.rights import WRITE, allows
from hawse.rpc import typed
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError, Kind
from runtime.core.tasks import Tasks
from runtime.desktop.desktop import Desktop
from runtime.desktop.rfb_filter import ViewerMessages
from runtime.people.participants import ParticipantsCursor

CONNECT_TIMEOUT: Final = 10.0  # seconds
RETRY: Final = 0.01  # seconds between two attempts to connect
READ_AHEAD: Final = (
    64 << 10
)  # bytes that came and wait for credit, above which no more are read (one read may overshoot)
WRITE_BUFFER: Final = 64 << 10  # bytes that wait for the X server, above which input is not acknowledged


class DesktopViewer(asyncio.Protocol):
    """A `Stream`: one viewer."""

    def __init__(
        self,
        call: ServerCall,
        params: DesktopAttach,
        desktop: Desktop,
        tasks: Tasks,
        on_detach: Callable[["DesktopViewer"], object],
    ) -> None:
        """Join the participants and begin to connect.

        Args:
            call: The call to serve.
            params: Its parameters.
            desktop: The desktop, which runs.
            tasks: Owns the work of connecting.
            on_detach: Is called once when the channel is closed.

        Raises:
            HawseError: `limit_exceeded` if the desktop has too many participants.
        """
        self._call = call
        self._desktop = desktop
        self._on_detach = on_detach
        self._read_only = params.read_only or not allows(call.principal.rights, WRITE)
        self._participant = desktop.participants.join(
            self, params.viewer or ViewerProfile(), read_only=self._read_only, fit=None, caller=call.principal
        )
        self._cursor = ParticipantsCursor()
        self._messages = ViewerMessages(self._may_write, self._note_input)
        self._transport: asyncio.Transport | None = None
        self._detached = False  # the channel is closed
        self._lost = False  # the connection is closed
        self._failure: Exception | None = None  # why the connection was lost; None: it was closed
        self._opened_sent = False
        self._chunks: deque[memoryview] = deque()  # from the X server
        self._held = 0  # bytes in `_chunks`
        self._reading = True
        self._received = 0  # bytes from the X server that were sent on
        self._sent = 0  # bytes of the viewer that were taken
        self._early: list[bytes] = []  # input that came before the connection was made; bounded by the input window
        self._writable = True
        self._owed = 0  # bytes taken while the X server did not read: they are acknowledged when it does
        tasks.start(self._connect())

    def wake(self) -> None:
        self._call.wake()

    # ---- Stream

    def pull(self, connection: Connection, ch: int, size: int) -> bool:
        window = connection.window(ch)
        if self._transport is not None and not self._opened_sent:
            if window > 0:
                self._open(connection, ch)
            return window > 0
        if self._opened_sent and window > 0:
            event = self._desktop.participants.next_event(self._cursor, self._sent)
            if event is not None:
                connection.send_event(ch, *event)
                return True
        if self._chunks and self._opened_sent:
            part = self._chunks[0][: min(size, window)]
            if part:
                connection.send_data(ch, Kind.OUTPUT, self._received, part)
                self._take(len(part))
            return bool(part)
        if self._lost:
            self._finish()
        return False

    def receive_input(self, offset: int, payload: memoryview) -> None:
        if offset != self._sent:
            raise HawseError("input_gap", f"input at {offset}", details={"applied": self._sent}, admitted="yes")
        self._sent += len(payload)
        if self._transport is None:
            self._early.append(bytes(payload))
        else:
            self._write(payload)

    def receive_end(self) -> None:
        """End the call: RFB has no half-closed connections."""
        if self._transport is not None and not self._lost:
            self._transport.close()

    def detach(self) -> None:
        self._detached = True
        self._chunks.clear()
        self._early.clear()
        if self._transport is not None and not self._lost:
            self._transport.abort()
        self._desktop.participants.leave(self._participant, self, link_lost=self._call.link_lost)
        self._on_detach(self)

    # ---- asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)  # uvloop's classes are not subclasses of asyncio.Transport
        if self._detached:
            self._transport.abort()
            return
        self._transport.set_write_buffer_limits(high=WRITE_BUFFER)
        early, self._early = self._early, []
        try:
            for data in early:
                self._write(data)
        except HawseError as error:
            self._call.error(error)
        self._call.wake()

    def data_received(self, data: bytes) -> None:
        if self._detached:
            return
        self._chunks.append(memoryview(data))
        self._held += len(data)
        if self._held >= READ_AHEAD and self._reading and self._transport is not None:
            self._reading = False
            self._transport.pause_reading()
        self._call.wake()

    def pause_writing(self) -> None:
        self._writable = False

    def resume_writing(self) -> None:
        self._writable = True
        owed, self._owed = self._owed, 0
        self._call.applied(owed)

    def connection_lost(self, exc: Exception | None) -> None:
        self._lost = True
        self._failure = exc
        if not self._detached:
            self._call.wake()

    # ---- inside

    async def _connect(self) -> None:
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT):
                while not await self._dial():  # noqa: ASYNC110  # nothing tells when there is room in the queue
                    await asyncio.sleep(RETRY)
        except OSError as error:  # TimeoutError is one
            reason = "does not answer" if isinstance(error, TimeoutError) else error.strerror or str(error)
            self._call.error(HawseError("io_error", f"the desktop {self._desktop.id}: {reason}"))

    async def _dial(self) -> bool:
        """Connect; return False if the X server's queue of new connections is full, which has 5 places."""
        try:
            await asyncio.get_running_loop().create_unix_connection(lambda: self, str(self._desktop.socket))
        except BlockingIOError:
            return False
        return True

    def _open(self, connection: Connection, ch: int) -> None:
        try:
            described = self._desktop.describe()
        except HawseError as error:
            self._call.error(error)
            return
        self._opened_sent = True
        state = self._desktop.participants.describe(self._participant, self._cursor)
        opened = DesktopOpened(
            desktop=described,
            viewer=state.viewer,
            read_only=self._read_only,
            presence=state.presence,
            lease=state.lease,
        )
        connection.send_event(ch, "opened", opened)

    def _may_write(self) -> bool:
        return not self._read_only and self._desktop.participants.may_write(self._participant)

    def _note_input(self) -> None:
        self._desktop.participants.record_input(self._participant, b"input")

    def _take(self, size: int) -> None:
        self._received += size
        self._held -= size
        rest = self._chunks.popleft()[size:]
        if rest:
            self._chunks.appendleft(rest)
        if self._held < READ_AHEAD and not self._reading and not self._lost and self._transport is not None:
            self._reading = True
            self._transport.resume_reading()

    def _write(self, data: bytes | memoryview) -> None:
        """Pass on what is allowed of the viewer's messages. Raises `HawseError` (`protocol_error`)."""
        assert self._transport is not None
        allowed = self._messages.receive(data)
        if allowed and not self._lost:
            self._transport.write(allowed)
        if self._writable or self._lost:
            self._call.applied(len(data))
        else:
            self._owed += len(data)

    def _finish(self) -> None:
        if self._failure is not None and not self._desktop.ended.is_set():  # one that ends resets its connections
            self._call.error(typed(self._failure))
        else:
            self._call.result(DesktopAttachResult(received=self._received, sent=self._sent))
