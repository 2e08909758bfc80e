"""A WebSocket from its handshake to its end, with one task for reading, one for writing and one for pings.

This module knows nothing about calls: received messages are passed to `receive`, and the `FairWriter` pulls the
messages to send.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from hawse.client.connection.dial import client_name, refusal_of_close
from hawse.client.connection.liveness import Liveness
from hawse.wire import (
    Connection,
    Data,
    Error,
    FairWriter,
    Goaway,
    HawseError,
    Message,
    Pong,
    RemoteProtocolError,
    Role,
    Welcome,
)

log = logging.getLogger(__name__)

BATCH = 64 * 1024  # number of bytes the writer takes per turn


@dataclass(frozen=True)
class ConnectionEnd:
    """Why a connection ended."""

    reason: str
    final: HawseError | None = None  # the error that makes another attempt pointless, if any
    retry_after: float | None = None  # seconds to wait before the next attempt, as requested by the server


class GatewayConnection:
    """A WebSocket and the protocol on it. Implements `hawse.client.base.channel.ConnectionProtocol`."""

    def __init__(self, websocket: ClientConnection, receive: Callable[[Message | Data], None]) -> None:
        """Wrap an open `websocket`. `receive` is called with channel messages and `Goaway`."""
        self.protocol = Connection(Role.CLIENT)  # the initial window is 0, because each channel gets its own window
        self.writer = FairWriter(self.protocol)
        self.welcome: Welcome | None = None
        self.rtt: float | None = None  # round-trip time of the last ping, in seconds
        self.websocket = websocket
        self._receive = receive
        self._wake = asyncio.Event()
        self._pinged = 0.0  # when the last ping was sent
        self._clock: Callable[[], float] = asyncio.get_running_loop().time
        self._goaway: Goaway | None = None
        self._error: HawseError | None = None  # an `error` without a channel, which states why the server will close
        self._reason = ""

    def wake_writer(self) -> None:
        """Wake the writer task, which sends data from `protocol` and `writer`."""
        self._wake.set()

    async def handshake(self) -> ConnectionEnd | None:
        """Send `hello` and wait for `welcome`. Returns None, or the reason why `welcome` did not arrive."""
        self.protocol.send_hello(client_name())
        try:
            try:
                for message in self.protocol.data_to_send():
                    await self.websocket.send(message)
            except ConnectionClosed:
                pass  # the close reason still needs to be read below
            while self.welcome is None:
                self._take(await self.websocket.recv())
        except ConnectionClosed:
            return self._ending()
        except RemoteProtocolError as error:
            await self.websocket.close(error.close_code)
            return ConnectionEnd(str(error), final=error)
        return None

    async def run(self, *, ping_interval: float, sleep: Callable[[float], Awaitable[None]]) -> ConnectionEnd:
        """Carry messages until the connection is lost or closed, and return the reason.

        Args:
            ping_interval: Seconds between pings. A connection that is silent for this long is dropped.
            sleep: Sleeps for a number of seconds.
        """
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(self._write()), group.create_task(self._ping(ping_interval, sleep))]
            try:
                while True:
                    self._take(await self.websocket.recv())
            except ConnectionClosed:
                return self._ending()
            except RemoteProtocolError as error:
                log.warning("! the server violated the protocol: %s", error)
                await self.websocket.close(error.close_code)
                return ConnectionEnd(str(error), final=error)
            finally:
                for helper in helpers:
                    helper.cancel()

    async def _write(self) -> None:
        try:
            while True:
                batch = self.writer.take(BATCH)
                if not batch:
                    self._wake.clear()
                    await self._wake.wait()
                for message in batch:
                    await self.websocket.send(message)
        except ConnectionClosed:
            return  # the reading task returns the reason for closing

    async def _ping(self, interval: float, sleep: Callable[[float], Awaitable[None]]) -> None:
        liveness = Liveness(self.websocket)
        liveness.progressed()
        while True:
            self._pinged = self._clock()
            self.protocol.ping(self._pinged)
            self.wake_writer()
            await sleep(interval)
            if not liveness.progressed():
                self._reason = f"nothing was received within {interval} s"
                self.websocket.transport.abort()
                return

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self.protocol.receive_text(message)
        else:
            self.protocol.receive_data(message)
        for event in self.protocol.events():
            match event:
                case Pong():
                    if event.t == self._pinged:
                        self.rtt = self._clock() - self._pinged
                case Welcome():
                    self.welcome = event
                case Goaway():
                    self._goaway = event
                    self._receive(event)
                case Error(ch=None):
                    self._error = event.to_exception()
                case _:
                    self._receive(event)
        if self.protocol.pending:
            self.wake_writer()

    def _ending(self) -> ConnectionEnd:
        closed = self.websocket.protocol
        code, reason = closed.close_code, closed.close_reason or ""
        if final := refusal_of_close(code, reason, self._error):
            return ConnectionEnd(str(final), final=final)
        retry_after = self._goaway.retry_after if self._goaway else None
        return ConnectionEnd(self._reason or f"closed with {code} {reason}".strip(), retry_after=retry_after)
