"""Gives each HTTP request its id and context, and the audit log each request that is refused."""

from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gateway.context import CURRENT, CallContext
from gateway.http.endpoint import address_of

REQUEST_ID: Final = b"x-request-id"
REFUSED: Final = {401: "unauthenticated", 403: "forbidden"}  # the codes that are audited, by the status


class RefusalObserver(Protocol):
    """The audit log."""

    def refusal(self, context: CallContext, code: str, path: str) -> None:
        """A request was refused."""


class RequestContexts:
    """ASGI middleware: sets the context of each request, and sends its id as `x-request-id`."""

    def __init__(self, app: ASGIApp, observer: RefusalObserver) -> None:
        self._app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        context = CallContext(address_of(scope))

        async def send_with_id(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                if (code := REFUSED.get(message["status"])) is not None:
                    self._observer.refusal(context, code, scope["path"])
                message = {
                    **message,
                    "headers": [*message.get("headers", []), (REQUEST_ID, context.request.encode())],
                }
            await send(message)

        mark = CURRENT.set(context)
        try:
            await self._app(scope, receive, send_with_id)
        finally:
            CURRENT.reset(mark)
