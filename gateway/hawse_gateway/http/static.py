"""Serves the browser client, which is built into gateway/_web/, and adds security headers to every response."""

import mimetypes
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

WEB: Final = Path(__file__).parents[1] / "_web"
IMMUTABLE: Final = "public, max-age=31536000, immutable"  # for files whose names contain a content hash
SECURITY: Final = {
    "content-security-policy": (
        # WebAssembly is allowed for the terminal's image decoders.
        "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "img-src 'self' data:; font-src 'self' data:; "
        "object-src 'none'; base-uri 'none'; form-action 'self'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin-allow-popups",  # allows previews in separate tabs
    "cross-origin-resource-policy": "same-origin",
}
POLICY: Final = b"content-security-policy"
OUTPUT_PAGE: Final = "output.html"
# The policy for rich output from untrusted code. Scripts in it run in an opaque origin and can't connect to any host.
OUTPUT_POLICY: Final = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:; media-src data: blob:; base-uri 'none'; form-action 'none'"
)

ENCODINGS: Final = (("br", ".br"), ("gzip", ".gz"))  # encodings of the files that the build compresses, best first

_WEIGHT: Final = re.compile(r"[01](?:\.[0-9]{0,3})?")

NOT_BUILT: Final = """<!doctype html><meta charset="utf-8"><title>hawse</title>
<p>The gateway is running, but its browser client is not built. In the project's directory, run <code>make web</code>,
or <code>cd web &amp;&amp; npm ci &amp;&amp; npm run build</code>; then restart the gateway.</p>
"""


class StaticPages(StaticFiles):
    """Starlette's static files, with cache headers and compression. Starlette refuses paths and links that lead outside
    the directory.

    The build writes `x.js.br` and `x.js.gz` next to `x.js` (web/build/precompress.ts). The compressed files are only
    served as encodings of `x.js`, never under their own names.
    """

    async def get_response(self, path: str, scope: Scope) -> Response:
        if path.endswith(tuple(suffix for _, suffix in ENCODINGS)):
            raise HTTPException(404)
        if path == "home":
            path = "home.html"
        # `/?recording=ID` serves the player, which is a separate document.
        if path == "." and any(part.startswith(b"recording=") for part in scope["query_string"].split(b"&")):
            path = "recording.html"
        return await super().get_response(path, scope)

    def file_response(
        self, full_path: Any, stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        request = Headers(scope=scope)
        path, encoding, stat_result = _encoded(Path(full_path), stat_result, request)
        response = FileResponse(
            path, status_code=status_code, stat_result=stat_result, media_type=_media_type(full_path)
        )
        hashed = path.parent.name == "assets"
        response.headers["cache-control"] = IMMUTABLE if hashed else "no-cache"
        response.headers["vary"] = "Accept-Encoding"
        if encoding:
            response.headers["content-encoding"] = encoding
            # Each encoding needs its own strong ETag, even if its file has the same size and modification time.
            response.headers["etag"] = response.headers["etag"].removesuffix('"') + f'-{encoding}"'
        final: Response = response
        if self.is_not_modified(response.headers, request):
            final = NotModifiedResponse(response.headers)
        if Path(full_path).name == OUTPUT_PAGE:  # sent with 304 too, to update caches
            final.headers["content-security-policy"] = OUTPUT_POLICY
        return final


def _encoded(path: Path, found: os.stat_result, request: Headers) -> tuple[Path, str, os.stat_result]:
    """Return the file to send for `path`, along with its content coding ("" for none) and its file status.

    For a range request, this is the uncompressed file, because a client that requests bytes 0 to 99 wants the actual
    content.
    """
    if "range" in request:
        return path, "", found
    accepted = accepted_encodings(request.getlist("accept-encoding"))
    for encoding, suffix in ENCODINGS:
        if encoding in accepted or ("*" in accepted and f"!{encoding}" not in accepted):
            variant = path.with_name(path.name + suffix)
            with suppress(OSError):  # fails for small files, which the build does not compress
                return variant, encoding, variant.stat()
    return path, "", found


def _media_type(path: Any) -> str:
    return mimetypes.guess_type(str(path))[0] or "text/plain"


def accepted_encodings(values: Iterable[str]) -> frozenset[str]:
    """Return the content codings in `Accept-Encoding` header values (RFC 9110, section 12.5.3), in lower case.

    If a coding has weight 0 or an invalid weight, it is not acceptable and is returned as `!coding`.
    """
    found = set()
    for item in ",".join(values).split(","):
        coding, *parameters = (part.strip().lower() for part in item.split(";"))
        weights = [value for name, _, value in (p.partition("=") for p in parameters) if name.strip() == "q"]
        found.add(coding if all(_is_positive(value) for value in weights) else f"!{coding}")
    return frozenset(found - {"", "!"})


def _is_positive(weight: str) -> bool:
    return _WEIGHT.fullmatch(weight.strip()) is not None and float(weight) > 0


def pages(directory: Path = WEB) -> ASGIApp:
    """Serve the client in `directory`. If the client hasn't been built, serve a page that explains how to build it."""
    if not (directory / "index.html").is_file():
        return HTMLResponse(NOT_BUILT, headers={"cache-control": "no-store"})
    return StaticPages(directory=directory, html=True)


class SecurityHeaders:
    """ASGI middleware that adds the `SECURITY` headers to every HTTP response.

    If a response already has a content security policy, only the rule about embedding is added to it.

    Args:
        app: The application.
        origins: Origins whose pages are allowed to embed the gateway's pages.
        preview_host: The parent domain for preview host names. The gateway's pages embed previews.
    """

    def __init__(self, app: ASGIApp, origins: Iterable[str] = (), preview_host: str | None = None) -> None:
        self._app = app
        headers = dict(SECURITY)
        frames = f"frame-src 'self' *.{preview_host}:*" if preview_host else "frame-src 'self'"
        ancestors = " ".join(("frame-ancestors 'self'", *origins))
        headers["content-security-policy"] = "; ".join((headers["content-security-policy"], frames, ancestors))
        self._ancestors = f"; {ancestors}".encode()
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                given = [
                    (name, value + self._ancestors if name == POLICY else value)
                    for name, value in message.get("headers", [])
                ]
                own = any(name == POLICY for name, _ in given)
                added = [header for header in self._headers if not own or header[0] != POLICY]
                message = {**message, "headers": [*given, *added]}
            await send(message)

        await self._app(scope, receive, send_with_headers)
