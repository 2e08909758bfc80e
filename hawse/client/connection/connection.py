"""One WebSocket from its welcome to its end: a reader, a writer and a pinger, and why it ended.

A line knows no call: what arrives goes to `receive`, what is to be sent is pulled by the `FairWriter`.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from hawse.client.connection.dial import client_name, refusal_of_close
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

BATCH = 64 * 1024  # bytes taken per turn of the writer


@dataclass(frozen=True)
class ConnectionEnd:
    """Why a line ended. `final`: no other line may be made; `retry_after`: the server said when (seconds)."""

    reason: str
    final: HawseError | None = None
    retry_after: float | None = None


class GatewayConnection:
    """Lives inside `run`."""

    def __init__(self, websocket: ClientConnection, receive: Callable[[Message | Data], None]) -> None:
        self.connection = Connection(Role.CLIENT)  # window 0: each channel is granted its own at once
        self.writer = FairWriter(self.connection)
        self.welcome: Welcome | None = None
        self.rtt: float | None = None  # seconds, of the latest ping
        self._websocket = websocket
        self._receive = receive
        self._wake = asyncio.Event()
        self._pinged = 0.0  # when the latest ping went out
        self._answered = True  # and whether its pong came
        self._clock: Callable[[], float] = asyncio.get_running_loop().time
        self._goaway: Goaway | None = None
        self._last: HawseError | None = None  # an `error` without a channel: why the server is about to close
        self._reason = ""

    def kick(self) -> None:
        """There is something to write."""
        self._wake.set()

    async def greet(self) -> ConnectionEnd | None:
        """Say hello and wait for the welcome; return why there was none."""
        self.connection.send_hello(client_name())
        try:
            try:
                for message in self.connection.data_to_send():
                    await self._websocket.send(message)
            except ConnectionClosed:
                pass  # why it was closed is still to be read
            while self.welcome is None:
                self._take(await self._websocket.recv())
        except ConnectionClosed:
            return self._ending()
        except RemoteProtocolError as error:
            await self._websocket.close(error.close_code)
            return ConnectionEnd(str(error), final=error)
        return None

    async def run(self, *, ping_interval: float, sleep: Callable[[float], Awaitable[None]]) -> ConnectionEnd:
        """Carry messages until the line is gone, then close what is left of it."""
        async with asyncio.TaskGroup() as group:
            helpers = [group.create_task(self._write()), group.create_task(self._ping(ping_interval, sleep))]
            try:
                while True:
                    self._take(await self._websocket.recv())
            except ConnectionClosed:
                return self._ending()
            except RemoteProtocolError as error:
                log.warning("! the server broke the protocol: %s", error)
                await self._websocket.close(error.close_code)
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
                    await self._websocket.send(message)
        except ConnectionClosed:
            return  # the reader says why

    async def _ping(self, interval: float, sleep: Callable[[float], Awaitable[None]]) -> None:
        while True:
            self._pinged, self._answered = self._clock(), False
            self.connection.ping(self._pinged)
            self.kick()
            await sleep(interval)
            if not self._answered:
                self._reason = f"no pong within {interval} s"
                self._websocket.transport.abort()
                return

    def _take(self, message: str | bytes) -> None:
        if isinstance(message, str):
            self.connection.receive_text(message)
        else:
            self.connection.receive_data(message)
        for event in self.connection.events():
            match event:
                case Pong():
                    if event.t == self._pinged:
                        self._answered = True
                        self.rtt = self._clock() - self._pinged
                case Welcome():
                    self.welcome = event
                case Goaway():
                    self._goaway = event
                    self._receive(event)
                case Error(ch=None):
                    self._last = event.to_exception()
                case _:
                    self._receive(event)
        if self.connection.pending:
            self.kick()

    def _ending(self) -> ConnectionEnd:
        closed = self._websocket.protocol
        code, reason = closed.close_code, closed.close_reason or ""
        if final := refusal_of_close(code, reason, self._last):
            return ConnectionEnd(str(final), final=final)
        retry_after = self._goaway.retry_after if self._goaway else None
        return ConnectionEnd(self._reason or f"closed with {code} {reason}".strip(), retry_after=retry_after)
