"""An in-memory connection for `CallTable`: the test plays the server."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from hawse.client import Options
from hawse.client.calls.call_table import CallTable
from hawse.wire import Call, Connection, Data, FairWriter, Kind, Limits, Message, Role
from hawse.wire.messages import from_raw
from tests.support.waiting import Changes

QUICK = Options(dice=lambda: 0.0, window=64 * 1024)  # no pause between attempts


async def eventually(condition: Callable[[], object]) -> None:
    """Poll until `condition` holds, for socket state without events. Bounded by the test's time limit."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0)


@asynccontextmanager
async def mute_server() -> AsyncIterator[int]:
    """Yield the port of a server that accepts and reads, but never sends anything."""
    done: list[asyncio.StreamWriter] = []
    changes = Changes()
    accepted = 0

    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        await reader.read()
        writer.close()
        done.append(writer)
        changes.notify()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        await changes.until(lambda: len(done) == accepted)
        for writer in done:
            await writer.wait_closed()


class MemoryConnection:
    """A `hawse.client.base.channel.ConnectionProtocol`. `pump` carries messages in both directions."""

    def __init__(self, calls: CallTable, limits: Limits | None = None) -> None:
        self.protocol = Connection(Role.CLIENT)
        self.writer = FairWriter(self.protocol)
        self.server = Connection(Role.SERVER, limits)
        self.received: list[Message | Data] = []  # by the server
        self.wakes = 0
        self._calls = calls
        self._changes = Changes()
        self.protocol.send_hello("test")
        self.pump()
        self.server.send_welcome("test", identity="me", role="owner")
        self.pump()
        calls.connected(self)

    def wake_writer(self) -> None:
        self.wakes += 1
        self._changes.notify()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait until `condition`, which depends on the client's messages, returns a true value."""
        await self._changes.until(condition)

    async def until_called(self, count: int = 1) -> None:
        """Wait until the client has made `count` calls on this connection."""
        await self.until(lambda: len(self.calls) >= count)

    def pump(self) -> None:
        """Carry messages until neither end has messages to send."""
        while True:
            up, down = self.writer.take(1 << 20), self.server.data_to_send()
            if not up and not down:
                return
            for message in up:
                _receive(self.server, message)
                for event in self.server.events():
                    if isinstance(event, Data):  # the payload is a view
                        event = Data(event.kind, event.ch, event.offset, bytes(event.payload))
                    self.received.append(event)
            for message in down:
                _receive(self.protocol, message)
                for event in self.protocol.events():
                    if getattr(event, "ch", None) is not None:
                        self._calls.receive(event)

    @property
    def calls(self) -> list[Call]:
        """The calls that the server received, in order."""
        self.pump()
        return [event for event in self.received if isinstance(event, Call)]

    @property
    def call(self) -> Call:
        return self.calls[-1]

    @property
    def params(self) -> Any:
        return from_raw(self.call.params)

    def inputs(self) -> list[tuple[int, bytes]]:
        """The input frames, as (offset, payload)."""
        self.pump()
        return [(event.offset, bytes(event.payload)) for event in self.received if isinstance(event, Data)]

    def of(self, kind: type[Message]) -> list[Any]:
        self.pump()
        return [event for event in self.received if isinstance(event, kind)]

    def event(self, name: str, value: Any = None) -> None:
        """Send an event from the server on the latest channel."""
        self.server.send_event(self.call.ch, name, value)
        self.pump()

    def data(self, kind: int, offset: int, payload: bytes) -> None:
        self.server.send_data(self.call.ch, Kind(kind), offset, payload)
        self.pump()

    def result(self, value: Any = None) -> None:
        self.server.send_result(self.call.ch, value)
        self.pump()

    def error(self, error: Any) -> None:
        self.server.send_error(self.call.ch, error)
        self.pump()


def _receive(connection: Connection, message: str | bytes) -> None:
    if isinstance(message, str):
        connection.receive_text(message)
    else:
        connection.receive_data(message)
