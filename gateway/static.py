"""The browser client: files built from web/ into gateway/_web/, and the security headers of every response."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WEB: Final = Path(__file__).parent / "_web"
IMMUTABLE: Final = "public, max-age=31536000, immutable"  # for names that contain a hash of the content
SECURITY: Final = {
    "content-security-policy": (
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"  # origins are appended
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin-allow-popups",  # previews open in tabs of their own
    "cross-origin-resource-policy": "same-origin",
}

NOT_BUILT: Final = """<!doctype html><meta charset="utf-8"><title>hawse</title>
<p>The gateway is running, but its browser client is not built. In the project's directory, run <code>make web</code>,
or <code>cd web &amp;&amp; npm ci &amp;&amp; npm run build</code>; then restart the gateway.</p>
"""


class StaticPages(StaticFiles):
    """Starlette's static files, which refuse paths and links that lead outside, with cache headers."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        # `/?recording=ID` shows the player, which is a document of its own.
        if path == "." and any(part.startswith(b"recording=") for part in scope["query_string"].split(b"&")):
            path = "recording.html"
        return await super().get_response(path, scope)

    def file_response(
        self, full_path: Any, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        hashed = Path(full_path).parent.name == "assets"
        response.headers["cache-control"] = IMMUTABLE if hashed else "no-cache"
        return response


def pages(directory: Path = WEB) -> ASGIApp:
    """Serve `directory`; without a built client, a page that explains how to build it."""
    if not (directory / "index.html").is_file():
        return HTMLResponse(NOT_BUILT, headers={"cache-control": "no-store"})
    return StaticPages(directory=directory, html=True)


class SecurityHeaders:
    """ASGI middleware: adds the headers of `SECURITY` to every HTTP response. Pages of `origins` may embed ours."""

    def __init__(self, app: ASGIApp, origins: Iterable[str] = ()) -> None:
        self._app = app
        headers = dict(SECURITY)
        headers["content-security-policy"] = " ".join((headers["content-security-policy"], *origins))
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message = {**message, "headers": [*message.get("headers", []), *self._headers]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
