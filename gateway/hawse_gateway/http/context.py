"""Assigns an id and a context to each HTTP request, and reports refused requests to the audit log."""

from typing import Final, Protocol

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hawse_gateway.core.context import CallContext
from hawse_gateway.http.endpoint import address_of

REQUEST_ID: Final = b"x-request-id"
TRACEPARENT: Final = b"traceparent"
REFUSED: Final = {
    401: "unauthenticated",
    403: "forbidden",
    429: "limit_exceeded",
}  # error codes, keyed by HTTP status


class RefusalObserver(Protocol):
    """The subset of the audit log's interface needed to record refused requests."""

    def refusal(self, context: CallContext, code: str, path: str) -> None:
        """Record that a request was refused."""


class RequestContexts:
    """ASGI middleware: sets each request's context and returns its id in `x-request-id`.

    The request continues the trace given in its `traceparent` header. The response's `traceparent` identifies the
    request.
    """

    def __init__(self, app: ASGIApp, observer: RefusalObserver) -> None:
        self._app = app
        self._observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        parents = [value.decode("latin-1") for name, value in scope["headers"] if name == TRACEPARENT]
        context = CallContext(address_of(scope), parents[0] if len(parents) == 1 else None)
        marks = ((REQUEST_ID, context.request.encode()), (TRACEPARENT, str(context.trace).encode()))

        async def send_with_id(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                if (code := REFUSED.get(message["status"])) is not None:
                    self._observer.refusal(context, code, scope["path"])
                message = {**message, "headers": [*message.get("headers", []), *marks]}
            await send(message)

        with context.entered():
            await self._app(scope, receive, send_with_id)
