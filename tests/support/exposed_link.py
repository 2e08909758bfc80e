"""A link whose transport tests can use: to write what no link sends, or to stop reading as a stopped process would."""

import asyncio
from typing import cast

from hawse.link import StreamLink


class ExposedLink(StreamLink):
    """A `StreamLink` with its `transport`, once it is connected."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's transports are not a subclass
        super().connection_made(transport)
