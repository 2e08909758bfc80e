"""Carries a link's byte stream in binary WebSocket messages, using the asyncio transport interface."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, Protocol


class BinarySocket(Protocol):
    """An open WebSocket (`hawse_gateway.transport.uvicorn_websocket`)."""

    @property
    def has_room(self) -> bool:
        """Whether a message can be sent now. If not, the receiver's `resume_writing` is called as soon as this
        changes."""
        ...

    def write(self, message: bytes) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class MachineTransport(asyncio.Transport):
    """Carries a single link. `on_close` closes the WebSocket, which is not reused."""

    def __init__(self, socket: BinarySocket, protocol: asyncio.Protocol, on_close: Callable[[], None]) -> None:
        """Create the transport. The caller must call the protocol's `connection_made`.

        Args:
            socket: The WebSocket.
            protocol: The link.
            on_close: Called once the link has closed the transport.
        """
        super().__init__()
        self._socket = socket
        self._protocol = protocol
        self._on_close = on_close
        self._closing = False
        self._lost = False
        self._paused = False  # whether the link has been told to pause writing

    # ---- called by the link

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._closing or not data:
            return
        self._socket.write(bytes(data))
        if not self._paused and not self._socket.has_room:
            self._paused = True
            self._protocol.pause_writing()

    def writelines(self, list_of_data: Iterable[Any]) -> None:
        self.write(b"".join(list_of_data))

    def pause_reading(self) -> None:
        if not self._closing:
            self._socket.pause_reading()

    def resume_reading(self) -> None:
        if not self._closing:
            self._socket.resume_reading()

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._end(None)

    def abort(self) -> None:
        self._end(None)

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing, since the WebSocket has a small buffer."""

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    # ---- called by the WebSocket

    def receive(self, data: bytes) -> None:
        """Pass a binary message to the link, or drop the message if the link has closed the transport."""
        if not self._closing:
            self._protocol.data_received(data)

    def resume_writing(self) -> None:
        """Let the link resume writing."""
        if self._paused and not self._closing:
            self._paused = False
            self._protocol.resume_writing()

    def lost(self) -> None:
        """End the link, because the WebSocket is closed."""
        self._end(ConnectionResetError("the machine has disconnected"))

    def _end(self, error: Exception | None) -> None:
        if self._closing:
            return
        self._closing = True
        asyncio.get_running_loop().call_soon(self._notify, error)

    def _notify(self, error: Exception | None) -> None:
        self._protocol.connection_lost(error)
        self._on_close()
