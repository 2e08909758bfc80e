"""One client's connection: reads its messages, writes what is for it, and ends for exactly one reason.

Two tasks, a reader and a writer, in one group. The writer takes small batches and waits for each message to be
taken by the transport, so that control goes first and no channel starves. It knows no HTTP and no WebSocket
library: an ASGI-like `Carrier` moves the messages.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final, NamedTuple, Protocol

from gateway.bridge import Bridge
from gateway.budget import Budget
from gateway.links import Links, SandboxLink
from gateway.rights import check
from hawse.wire import (
    Call,
    Cancel,
    Connection,
    Credit,
    Data,
    End,
    FairWriter,
    HawseError,
    Hello,
    Limits,
    Message,
    RemoteProtocolError,
    Role,
)

log = logging.getLogger(__name__)

BATCH: Final = 64 << 10  # bytes the writer takes at a time: what new control may have to wait for
INPUT_HIGH: Final = 1 << 20  # bytes one client may have waiting toward runtimes before it is not read from
CLOSE_TIMEOUT: Final = 2.0  # s for the last words to a client

Method = Callable[[], Any]


class Closing(NamedTuple):
    """Why a connection ends. Without a code the client has ended it."""

    code: int | None
    reason: str
    error: HawseError | None = None  # said before the close; the connection says its own


class Carrier(Protocol):
    """A WebSocket, open."""

    async def receive(self) -> str | bytes | None:
        """The next message; None when the other side is gone."""
        ...

    async def send(self, message: str | bytes) -> None:
        """Send when there is room. Raises `OSError` when the other side is gone."""
        ...

    async def close(self, code: int, reason: str) -> None: ...


class Session:
    """Use `run` once. It is the `Front` of its bridges."""

    def __init__(
        self, carrier: Carrier, links: Links, methods: dict[str, Method], limits: Limits, name: str, role: str
    ) -> None:
        self.connection = Connection(Role.SERVER, limits)
        self.writer = FairWriter(self.connection)
        self.budget = Budget()
        self.name = name
        self.role = role
        self._carrier = carrier
        self._links = links
        self._methods = methods
        self._bridges: dict[int, tuple[Bridge, SandboxLink]] = {}
        self._closing: asyncio.Future[Closing] = asyncio.get_running_loop().create_future()
        self._work = asyncio.Event()  # there is something to write
        self._used: set[SandboxLink] = set()  # that this client has called
        self.input_waiting = 0  # bytes toward runtimes
        self._flowing = asyncio.Event()  # there is room toward them again

    async def run(self) -> Closing:
        """Serve until either side ends it; return why."""
        try:
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(self._read(), name=f"{self.name} reader")
                writer = tasks.create_task(self._write(), name=f"{self.name} writer")
                closing = await self._closing
                reader.cancel()
                writer.cancel()
        finally:
            for bridge, link in list(self._bridges.values()):
                link.close(bridge)
            self._bridges.clear()
        await self.say(closing)
        return closing

    @property
    def closing(self) -> bool:
        return self._closing.done()

    def close(self, closing: Closing) -> None:
        """End the connection; the first reason holds."""
        if not self._closing.done():
            self._closing.set_result(closing)

    def go_away(self, reason: str, retry_after: float) -> None:
        self.connection.goaway(reason, retry_after)
        self.close(Closing(1012, reason))

    # ---- for bridges

    def flush(self) -> None:
        if not self.writer.idle:
            self._work.set()
        if self.connection.pending > self.connection.limits.backlog:
            self.connection.data_to_send()
            error = HawseError("backlog", f"more than {self.connection.limits.backlog} bytes were not read")
            self.close(Closing(4429, "backlog", error))

    def count_input(self, change: int) -> None:
        self.input_waiting += change
        if change < 0:
            self._flowing.set()

    def forget(self, ch: int) -> None:
        self.budget.close(ch)
        if entry := self._bridges.pop(ch, None):
            bridge, link = entry
            link.close(bridge)

    # ---- reading

    async def _read(self) -> None:
        try:
            try:
                async with asyncio.timeout(self.connection.limits.hello_timeout):
                    open_ = await self._receive()
            except TimeoutError:
                self.close(Closing(4408, "hello_timeout", HawseError("hello_timeout", "no `hello` in time")))
                return
            while open_:
                await self._room()
                open_ = await self._receive()
            self.close(Closing(None, "gone"))
        except RemoteProtocolError as error:
            self.close(Closing(error.close_code, error.code))
        except Exception:
            log.exception("! %s", self.name)
            self.close(Closing(1011, "internal", HawseError("internal")))

    async def _receive(self) -> bool:
        """Take and handle one message; False when there are no more."""
        message = await self._carrier.receive()
        if message is None:
            return False
        if isinstance(message, str):
            self.connection.receive_text(message)
        else:
            self.connection.receive_data(message)
        for event in self.connection.events():
            self._handle(event)
        self.flush()
        return True

    async def _room(self) -> None:
        """Wait while too much of this client's waits for a runtime that does not read."""
        while self.input_waiting > INPUT_HIGH or self._congested():
            self._flowing.clear()
            await self._flowing.wait()

    def _congested(self) -> bool:
        for link in self._used:
            if link.congested:
                link.when_drained(self._flowing.set)
                return True
        return False

    def _handle(self, event: Message | Data) -> None:
        match event:
            case Data() | End() | Cancel():
                if (entry := self._bridges.get(event.ch)) and not (isinstance(event, Data) and not event.payload):
                    entry[0].send(event)
            case Credit():
                self.writer.wake(event.ch)
                if entry := self._bridges.get(event.ch):
                    entry[0].grant()
            case Call():
                try:
                    self._open(event)
                except HawseError as error:
                    self.connection.send_error(event.ch, error)
            case Hello():
                self.connection.send_welcome("hawse", identity="local", role=self.role)

    def _open(self, call: Call) -> None:
        if call.sandbox is not None:
            link = self._links.get(call.sandbox)
            bridge = Bridge(self, call)
            self._bridges[call.ch] = bridge, link
            self._used.add(link)
            link.open(bridge)
        elif call.method in self._methods:
            check(self.role, call.method)
            self.connection.send_result(call.ch, self._methods[call.method]())
        else:
            raise HawseError("unknown_method", f"{call.method[:128]!r}, without `sandbox`")

    # ---- writing

    async def _write(self) -> None:
        try:
            while True:
                for message in self.writer.take(BATCH):
                    await self._carrier.send(message)
                if self.writer.idle:
                    self._work.clear()
                    await self._work.wait()
        except OSError:
            self.close(Closing(None, "gone"))
        except Exception:
            log.exception("! %s", self.name)
            self.close(Closing(1011, "internal", HawseError("internal")))

    async def say(self, closing: Closing) -> None:
        """The last words, if anybody is there to hear them."""
        if closing.code is None:
            return
        if closing.error is not None:
            self.connection.say(closing.error)
        try:
            async with asyncio.timeout(CLOSE_TIMEOUT):
                for message in self.connection.data_to_send():
                    await self._carrier.send(message)
                await self._carrier.close(closing.code, closing.reason)
        except OSError:  # TimeoutError is one: the client does not read, or is gone
            pass
