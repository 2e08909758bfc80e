"""Serves `desktop.attach`: a viewer's RFB connection to the X server. The viewer's messages are checked.

Each viewer has its own connection, which is read no faster than the viewer consumes its data. A slow viewer doesn't
delay others, because the X server skips frames for it.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from hawse.api.desktops import DesktopAttach, DesktopAttachResult, DesktopOpened
from hawse.api.people import ViewerProfile
from hawse.api.rights import WRITE, allows
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.desktop.desktop import Desktop
from hawse_runtime.desktop.rfb_filter import ViewerMessages
from hawse_runtime.desktop.server_socket import connected
from hawse_runtime.people.participants import ParticipantsCursor
from hawse_runtime.rpc.connection_stream import ConnectionStream

CONNECT_TIMEOUT: Final = 10.0  # timeout in seconds


class DesktopViewer(ConnectionStream):
    """A `Stream` for one viewer."""

    def __init__(
        self,
        call: ServerCall,
        params: DesktopAttach,
        desktop: Desktop,
        tasks: Tasks,
        on_detach: Callable[["DesktopViewer"], object],
    ) -> None:
        """Add the viewer to the participants and start connecting.

        Args:
            call: The call to serve.
            params: The call's parameters.
            desktop: The desktop to attach to. It must be running.
            tasks: Owns the task that connects.
            on_detach: Called once, when the channel is closed.

        Raises:
            HawseError: `limit_exceeded` if the desktop has too many participants.
        """
        super().__init__(call)
        self._desktop = desktop
        self._on_detach = on_detach
        self._read_only = params.read_only or not allows(call.principal.rights, WRITE)
        self._participant = desktop.participants.join(
            self, params.viewer or ViewerProfile(), read_only=self._read_only, fit=None, caller=call.principal
        )
        self._cursor = ParticipantsCursor()
        self._messages = ViewerMessages(self._may_write, self._note_input)
        tasks.start(self.connect())

    def wake(self) -> None:
        self._call.wake()

    def detach(self) -> None:
        super().detach()
        self._desktop.participants.leave(self._participant, self, link_lost=self._call.link_lost)
        self._on_detach(self)

    async def _dial(self) -> None:
        loop, address = asyncio.get_running_loop(), str(self._desktop.socket)
        async with asyncio.timeout(CONNECT_TIMEOUT):
            await connected(lambda: loop.create_unix_connection(lambda: self, address))

    def _connect_error(self, reason: str) -> HawseError:
        return HawseError("io_error", f"the desktop {self._desktop.id}: {reason}")

    def _opened(self) -> DesktopOpened:
        described = self._desktop.describe()
        state = self._desktop.participants.describe(self._participant, self._cursor)
        return DesktopOpened(
            desktop=described,
            viewer=state.viewer,
            read_only=self._read_only,
            presence=state.presence,
            lease=state.lease,
        )

    def _send_event(self, connection: Connection, ch: int) -> bool:
        event = self._desktop.participants.next_event(self._cursor, self._sent)
        if event is not None:
            connection.send_event(ch, *event)
        return event is not None

    def _allowed(self, data: bytes | memoryview) -> bytes:
        return self._messages.receive(data)

    def _end_input(self, transport: asyncio.Transport) -> None:
        transport.close()  # RFB connections can't be half-closed

    def _result(self) -> DesktopAttachResult:
        if not self._desktop.ended.is_set():  # a desktop resets its connections when it ends
            self._raise_failure()
        return DesktopAttachResult(received=self._received, sent=self._sent)

    def _may_write(self) -> bool:
        return not self._read_only and self._desktop.participants.may_write(self._participant)

    def _note_input(self) -> None:
        self._desktop.participants.record_input(self._participant, b"input")
