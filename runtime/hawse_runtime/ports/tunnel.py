"""Serves `port.connect` and `port.accept`: joins a TCP connection and a channel. Each direction is paced separately."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hawse.api.ports import PortConnectEnd, PortConnectOpened, PortConnectResult
from hawse.rpc.call import ServerCall
from hawse.wire import Connection, HawseError
from hawse_runtime.core.tasks import Tasks
from hawse_runtime.rpc.connection_stream import ConnectionStream

CONNECT_TIMEOUT = 10.0  # connection timeout in seconds; reached if a program's queue of new connections is full

# A function that sets `address`, then opens the connection with the stream as its protocol. Raises `OSError` or
# `HawseError`.
Dial = Callable[["TunnelStream"], Awaitable[None]]


def dial_first(find: Callable[[], Awaitable[Sequence[str]]]) -> Dial:
    """Return a function that tries the addresses returned by `find` in order until one of them answers."""

    async def dial(stream: "TunnelStream") -> None:
        addresses = await find()
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(CONNECT_TIMEOUT):
            for last, address in enumerate(addresses, 1 - len(addresses)):
                stream.address = address
                try:
                    await loop.create_connection(lambda: stream, address, stream.port)
                    return
                except OSError:
                    if last == 0:
                        raise

    return dial


class TunnelStream(ConnectionStream):
    """A `Stream` for a TCP connection. `address` is the peer's address. Each direction ends separately."""

    def __init__(
        self,
        call: ServerCall,
        port: int,
        dial: Dial,
        tasks: Tasks,
        on_detach: Callable[["TunnelStream"], object],
    ) -> None:
        super().__init__(call)
        self.port = port
        self.address = ""
        self._make = dial
        self._on_detach = on_detach
        self._eof = False  # whether the program has closed its side of the connection
        self._end_sent = False  # whether the `end` event was sent
        tasks.start(self.connect())

    def cut(self, error: HawseError) -> None:
        """End the call with `error`."""
        self._call.error(error)

    def detach(self) -> None:
        super().detach()
        self._on_detach(self)

    def eof_received(self) -> bool:
        self._eof = True
        self._call.wake()
        return True  # keeps the connection open, because the program may still be reading

    async def _dial(self) -> None:
        await self._make(self)

    def _connect_error(self, reason: str) -> HawseError:
        return HawseError("unavailable", f"port {self.port}: {reason}", details={"port": self.port})

    def _opened(self) -> PortConnectOpened:
        return PortConnectOpened(port=self.port, address=self.address)

    def _send_event(self, connection: Connection, ch: int) -> bool:
        if not self._eof or self._end_sent or self._chunks or self._lost:
            return False
        self._end_sent = True
        connection.send_event(ch, "end", PortConnectEnd(offset=self._received))
        self._close_if_ended()
        return True

    def _end_input(self, transport: asyncio.Transport) -> None:
        transport.write_eof()
        self._close_if_ended()

    def _close_if_ended(self) -> None:
        """Close the connection once both directions have ended. After that, `connection_lost` reports the outcome."""
        if self._end_sent and self._ended and self._transport is not None:
            self._transport.close()

    def _result(self) -> PortConnectResult:
        self._raise_failure()
        return PortConnectResult(received=self._received, sent=self._sent)
