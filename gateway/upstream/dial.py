"""A link to one runtime: reaching it, greeting it, and letting go of it when it neither reads nor answers."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Protocol

from hawse.link import StreamLink
from hawse.wire import Connection, Data, Limits, Message, Role, Welcome
from hawse.wire.limits import LINK_CHANNELS

PING_INTERVAL: Final = 10.0  # s
SILENCE: Final = 30.0  # s without a word after which a runtime counts as stuck


class LinkOwner(Protocol):
    """Who is told what comes on a link, once it was greeted."""

    def link_received(self, link: StreamLink, event: Message | Data) -> None: ...

    def link_drained(self) -> None:
        """What waited has gone to the transport."""

    def link_lost(self, link: StreamLink, error: Exception | None) -> None: ...


class RuntimeLink(StreamLink):
    """The client's end of a stream link. `ready` is done with the welcome, or fails with the link."""

    def __init__(self, owner: LinkOwner) -> None:
        connection = Connection(Role.CLIENT, Limits(channels=LINK_CHANNELS), window=0)
        connection.send_hello("hawse-gateway", shares=True)
        super().__init__(connection, self)
        loop = asyncio.get_running_loop()
        self.ready: asyncio.Future[None] = loop.create_future()
        self.lost = asyncio.Event()
        self.abilities: Sequence[str] = ()  # the runtime's, from its welcome on
        self._owner = owner
        self._clock = loop.time
        self._heard = loop.time()

    @property
    def silence(self) -> float:
        """Seconds since the last message."""
        return self._clock() - self._heard

    def ping(self) -> None:
        self.connection.ping(self._clock())
        self.flush()

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        self._heard = self._clock()
        if not isinstance(event, Welcome):
            self._owner.link_received(self, event)
        elif not self.ready.done():
            self.abilities = event.abilities
            self.ready.set_result(None)

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        if not self.ready.done():
            self.ready.set_exception(error or ConnectionResetError("it hung up before its welcome"))
        self.lost.set()
        self._owner.link_lost(self, error)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._owner.link_drained()


async def dial(path: Path, owner: LinkOwner) -> RuntimeLink:
    """Connect to a runtime's socket and greet it. Raises `OSError` or `RemoteProtocolError`."""
    loop = asyncio.get_running_loop()
    _, link = await loop.create_unix_connection(lambda: RuntimeLink(owner), str(path))
    try:
        await link.ready
    except BaseException:
        link.abort()
        raise
    return link


async def watch(link: RuntimeLink, *, interval: float = PING_INTERVAL, silence: float = SILENCE) -> None:
    """Return when the link is lost. One that says nothing for `silence` seconds, though asked, is."""
    while not link.lost.is_set():
        try:
            async with asyncio.timeout(interval):
                await link.lost.wait()
        except TimeoutError:
            if link.silence > silence:
                link.abort(TimeoutError(f"nothing heard for {silence:g} s"))
                await link.lost.wait()
            else:
                link.ping()
