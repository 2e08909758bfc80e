"""A call made by the gateway itself that only needs the outcome."""

import asyncio
from typing import Any

from hawse.api import Params, spec_of
from hawse.link.stream_link import StreamLink
from hawse.wire import Call, Credit, Data, Error, Event, HawseError, Result
from hawse.wire.messages import to_raw
from hawse_gateway.auth.principals import GATEWAY
from hawse_gateway.core.context import CallContext


class GatewayCall:
    """A call with the same interface as a client's `ChannelBridge`. The future `done` completes or fails with the
    call."""

    def __init__(self, params: Params[Any]) -> None:
        self.call = Call(ch=1, method=spec_of(type(params)).name, params=to_raw(params))
        self.principal = GATEWAY
        self.context = CallContext("")
        self.link_ch = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def start(self, link: StreamLink, waited: float = 0.0) -> int:
        self.link_ch = link.connection.call(self.call.method, self.call.params, principal=self.principal)
        link.flush()
        return self.link_ch

    def receive_data(self, data: Data) -> None:
        """Ignore output, because the methods called in this way have none."""

    def receive_message(self, message: Event | Result | Error) -> None:
        if isinstance(message, Error):
            self.fail(message.to_exception())
        elif isinstance(message, Result) and not self.done.done():
            self.done.set_result(None)

    def receive_progress(self, event: Event) -> None:
        """Ignore progress, because the call doesn't wait for a sandbox."""

    def receive_credit(self, credit: Credit) -> None:
        """Ignore credit, because the call has no input."""

    def fail(self, error: HawseError) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def abandon(self) -> None:
        self.done.cancel()
