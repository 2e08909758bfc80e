"""Detects whether the peer of a WebSocket is alive, even if its pong is delayed by data in flight on a slow network.

Every byte received is a sign of life, even if its message is incomplete. While data is in flight, a TCP acknowledgement
also counts, because the ping waits behind that data. With no data in flight, acknowledgements do not count, because the
kernel acknowledges bytes even if the program is stopped. A proxy's kernel even does so after the gateway has
disappeared, so acknowledgements without received bytes count only for `SILENCE` seconds.
"""

import asyncio
import socket
import sys
from collections.abc import Callable
from typing import Final

from websockets.asyncio.client import ClientConnection

SILENCE: Final = 60.0  # after this many seconds without a received byte, acknowledgements no longer count
UNACKED = slice(24, 28)  # tcpi_unacked in Linux's `struct tcp_info`: number of segments (u32)
BYTES_ACKED = slice(120, 128)  # tcpi_bytes_acked (u64, since Linux 4.1)


class ClosedTransport(asyncio.Transport):
    """A replacement for a transport that has ended.

    asyncio's transport raises AttributeError if it is aborted after it has written its last bytes and closed itself.
    """

    def is_closing(self) -> bool:
        return True

    def abort(self) -> None:
        pass

    def close(self) -> None:
        pass

    def write(self, data: object) -> None:
        pass

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return 0


class CountingConnection(ClientConnection):
    """A WebSocket connection that counts the bytes received and can be closed whatever state its transport is in."""

    received = 0

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.transport = ClosedTransport()

    def data_received(self, data: bytes) -> None:
        self.received += len(data)
        super().data_received(data)


class Liveness:
    """Tracks a WebSocket's signs of life.

    Args:
        websocket: The WebSocket.
        clock: A monotonic clock, in seconds. None means the running loop's clock.
    """

    def __init__(self, websocket: ClientConnection, clock: Callable[[], float] | None = None) -> None:
        self._websocket = websocket
        self._clock = clock or asyncio.get_running_loop().time
        self._heard = self._clock()  # when a byte last arrived, as far as is known
        self._received = 0
        self._acknowledged = 0

    def progressed(self) -> bool:
        """Return whether there has been a sign of life since the previous call."""
        received = self._websocket.received if isinstance(self._websocket, CountingConnection) else 0
        acknowledged, pending = self._sent()
        if received > self._received:
            self._heard = self._clock()
        delivered = pending and acknowledged > self._acknowledged and self._clock() - self._heard < SILENCE
        progress = received > self._received or delivered
        self._received, self._acknowledged = received, acknowledged
        return progress

    def _sent(self) -> tuple[int, bool]:
        """Return the number of bytes acknowledged, which is 0 on systems other than Linux, and whether more bytes are
        in flight.
        """
        transport = self._websocket.transport
        raw = transport.get_extra_info("socket")
        if raw is None or raw.family not in (socket.AF_INET, socket.AF_INET6) or sys.platform != "linux":
            return 0, False
        try:
            info = raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, BYTES_ACKED.stop)
        except (OSError, ValueError):  # ValueError: uvloop has closed the socket
            return 0, False
        unacked = int.from_bytes(info[UNACKED], sys.byteorder)
        pending = unacked > 0 or transport.get_write_buffer_size() > 0
        return int.from_bytes(info[BYTES_ACKED], sys.byteorder), pending
