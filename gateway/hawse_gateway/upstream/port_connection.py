"""A connection from the gateway to a port in a sandbox, opened with `port.connect`."""

import asyncio
from typing import Final, Self

import msgspec

from hawse.api.ports import PortConnectOpened
from hawse.wire import Event, HawseError, Principal
from hawse_gateway.auth.principals import PREVIEW
from hawse_gateway.core.context import CallContext
from hawse_gateway.limits.byte_rates import Pace
from hawse_gateway.upstream.call import UpstreamCall, UpstreamItem
from hawse_gateway.upstream.sandbox_link import SandboxLink

CONNECT_TIME: Final = 20.0  # timeout in seconds: 10 for the link and 10 for the connection to the port


class PortTunnel(UpstreamCall):
    """A connection, used as an async context manager. Entering the context waits for the connection, and exiting it
    closes the connection.

    Entering the context can raise `HawseError`, and so can `read` and `write`.
    """

    def __init__(
        self, link: SandboxLink, place: str | int, pace: Pace | None = None, *, principal: Principal = PREVIEW
    ) -> None:
        """Create a connection.

        Args:
            link: The link to the sandbox.
            place: The token of a preview, or a port number.
            pace: Limits the byte rate in both directions. None disables the limit.
            principal: The caller. Needs the `operate` permission to connect to a port number.
        """
        params = {"token": place} if isinstance(place, str) else {"port": place}
        super().__init__(link, "port.connect", params, principal=principal, context=CallContext(""), pace=pace)
        self.port = 0  # the port in the sandbox; 0 until connected
        self._eof = False  # whether the program has closed its side

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        try:
            async with asyncio.timeout(CONNECT_TIME):
                await self._opened()
        except TimeoutError:
            await self.__aexit__()
            raise HawseError("unavailable", f"the port did not answer within {CONNECT_TIME:g} s") from None
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _opened(self) -> None:
        while (item := await self.next()) is not None:
            if isinstance(item, Event) and item.name == "opened":
                self.port = msgspec.json.decode(item.value, type=PortConnectOpened).port
                return
        raise self._closed()

    async def read(self) -> bytes:
        """Read some bytes. Return `b""` when the program has closed its side. Only one task may read."""
        while not self._eof:
            item = await self.next()
            if isinstance(item, UpstreamItem):
                return item.payload
            self._eof = item is None or item.name == "end"
        return b""

    async def write(self, *parts: bytes) -> None:
        """Send bytes to the program, and wait until the link has accepted them. Concurrent writes are sent in order."""
        if not await self.send(b"".join(parts)):
            raise self._closed()

    def cut(self, error: HawseError) -> None:
        """Break the connection, so that `read` and `write` raise `error`."""
        self._sandbox.close(self)
        self.fail(error)

    def _closed(self) -> HawseError:
        return HawseError("exited", "the connection is closed") if self._error is None else self._error.to_exception()
