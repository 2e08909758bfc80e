"""CORS headers (Fetch standard) for pages from the origins in `--allow-origin`.

These pages authenticate with a token. Browser credentials are not allowed, so that the pages can't use a session of the
gateway's own page.
"""

from collections.abc import Iterable
from typing import Final

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

METHODS: Final = b"GET, HEAD, POST, PUT, DELETE"
REQUEST_HEADERS: Final = b"authorization, content-type, idempotency-key, if-range, last-event-id, range, traceparent"
RESPONSE_HEADERS: Final = b"accept-ranges, content-range, etag, retry-after, traceparent, x-request-id"
MAX_AGE: Final = b"600"  # how many seconds browsers may cache the response to a preflight request


class CrossOrigin:
    """ASGI middleware that adds CORS headers for allowed origins and responds to their preflight requests."""

    def __init__(self, app: ASGIApp, origins: Iterable[str]) -> None:
        self._app = app
        self._origins = {origin.lower().rstrip("/").encode() for origin in origins}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not self._origins:
            await self._app(scope, receive, send)
            return
        given = [value for name, value in scope["headers"] if name == b"origin"]
        allowed = len(given) == 1 and given[0].lower() in self._origins
        headers = [(b"vary", b"Origin")]
        if allowed:
            headers.append((b"access-control-allow-origin", given[0]))
            headers.append((b"access-control-expose-headers", RESPONSE_HEADERS))

        async def send_on(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", []), *headers]}
            await send(message)

        asked = any(name == b"access-control-request-method" for name, _ in scope["headers"])
        if allowed and asked and scope["method"] == "OPTIONS":
            headers += [
                (b"access-control-allow-methods", METHODS),
                (b"access-control-allow-headers", REQUEST_HEADERS),
                (b"access-control-max-age", MAX_AGE),
            ]
            await Response(status_code=204)(scope, receive, send_on)
        else:
            await self._app(scope, receive, send_on)
