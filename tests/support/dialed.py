"""Links to runtimes, without a gateway."""

from hawse.link.stream_link import StreamLink
from hawse.wire import Data, Message, Result
from hawse.wire.messages import from_raw
from hawse_gateway.providers.base import Endpoint
from hawse_gateway.upstream.dial import dial
from tests.support.waiting import Changes


class Owner(Changes):
    def __init__(self) -> None:
        super().__init__()
        self.received: list[Message | Data] = []
        self.lost: list[Exception | None] = []
        self.drained = 0

    def link_received(self, link: StreamLink, event: Message | Data) -> None:
        self.received.append(event)
        self.notify()

    def link_lost(self, link: StreamLink, error: Exception | None) -> None:
        self.lost.append(error)
        self.notify()

    def link_drained(self) -> None:
        self.drained += 1
        self.notify()


async def ask_over(endpoint: Endpoint) -> None:
    """Make one call."""
    owner = Owner()
    link = await dial(endpoint, owner)
    ch = link.connection.call("runtime.info", {})
    link.flush()
    await owner.until(lambda: owner.received)
    (result,) = owner.received
    assert isinstance(result, Result)
    assert result.ch == ch
    assert from_raw(result.value)
    link.abort()
    await link.lost.wait()
