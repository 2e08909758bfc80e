"""Previews: forward requests to what a program in a sandbox serves on an exposed port.

The middleware is the outermost: requests for previews pass none of the gateway's own routes, headers and checks; all
other requests are passed on unchanged. The runtime checks the preview's token for each request (docs/decisions/0037).
"""

import hashlib
import html
import logging
from collections import Counter
from collections.abc import Callable
from http import HTTPStatus
from typing import Final, Protocol

import msgspec
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway.auth.access_policy import AccessPolicy
from gateway.auth.principals import PREVIEW
from gateway.http.endpoint import address_of
from gateway.http.responses import error_response
from gateway.limits.pace import ByteRates, Pace
from gateway.limits.quotas import HeldLimit
from gateway.preview.addresses import PreviewAddresses, PreviewTarget
from gateway.preview.headers import SANDBOX, Pairs, PublicAddress, preflight_response
from gateway.preview.http import forward
from gateway.preview.tunnel import PortTunnel
from gateway.preview.websocket import WebSocketRelay
from gateway.sandboxes.lifecycle import Sandboxes
from gateway.transport.uvicorn_http import UNLIMITED_DURATION
from gateway.upstream.links import Links
from gateway.upstream.sandbox_link import SandboxLink
from hawse.wire import HawseError, Principal

log = logging.getLogger(__name__)

AT_ONCE: Final = (
    512  # concurrent requests of all previews, WebSockets included: each is a socket and a channel of a link
)
AT_ONCE_EACH: Final = 256  # concurrent requests of one preview
PAGE: Final = """<!doctype html><meta charset="utf-8"><title>{title}</title>
<body style="font:16px/1.5 system-ui;max-width:40rem;margin:15vh auto;padding:0 1rem;color:#333">
<h1 style="font-size:1.4rem">{title}</h1><p>{text}</p>
"""
TITLES: Final = {
    "not_found": "No such preview",
    "stale_handle": "This preview has ended",
    "unavailable": "The program is not listening yet",
    "forbidden": "Not allowed",
}


class PreviewAudit(Protocol):
    """The audit log."""

    def preview(self, visitor: Principal, address: str, sandbox: str, port: int) -> None:
        """A visitor has opened a preview. It is called for each request."""


class PreviewProxy:
    """ASGI middleware, the outermost. `links` may be called while the application runs."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        access_policy: AccessPolicy,
        sandboxes: Sandboxes,
        links: Callable[[], Links],
        addresses: PreviewAddresses,
        byte_rates: ByteRates | None = None,
        connections: HeldLimit | None = None,
        audit: PreviewAudit | None = None,
    ) -> None:
        """Wrap an application.

        Args:
            app: The application.
            access_policy: Knows the names of the gateway.
            sandboxes: Says which sandboxes run.
            links: Returns the links to them.
            addresses: Finds the preview that a request is for.
            byte_rates: Slows down visitors that send and receive too much. None: there is no limit.
            connections: Limits the requests of each visitor. None: there is no limit.
            audit: Is notified of visitors. None: nothing is.
        """
        self._audit = audit
        self._connections = connections or HeldLimit()
        self._byte_rates = byte_rates or ByteRates()
        self._app = app
        self._access_policy = access_policy
        self._sandboxes = sandboxes
        self._links = links
        self._addresses = addresses
        self._open: Counter[str] = Counter()  # the number of requests, by token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = None if scope["type"] == "lifespan" else self._addresses.find(scope)
        if target is None or (target.by_path and not self._access_policy.host_allowed(scope["headers"])):
            await self._app(scope, receive, send)
        elif not target.path.startswith(b"/"):
            query = target.path.decode("latin-1")
            await _plain(Response(status_code=308, headers={"location": f"{target.prefix}/{query}"}))(
                scope, receive, send
            )
        elif (headers := preflight_response(scope["headers"], target, scope.get("method", ""))) is not None:
            await _preflight(headers)(scope, receive, send)
        else:
            await self._serve(target, scope, receive, send)

    async def _serve(self, target: PreviewTarget, scope: Scope, receive: Receive, send: Send) -> None:
        self._open[target.token] += 1
        try:
            if scope["type"] == "websocket":
                await receive()  # websocket.connect, which is sent once, also for a request that is refused
            await self._forward(target, scope, receive, send)
        except HawseError as error:
            log.info(
                "! preview of %s: %s", target.sandbox, error, extra={"sandbox": target.sandbox, "code": error.code}
            )
            await _problem(error, scope)(scope, receive, send)
        finally:
            self._open[target.token] -= 1
            if not self._open[target.token]:
                del self._open[target.token]

    async def _forward(self, target: PreviewTarget, scope: Scope, receive: Receive, send: Send) -> None:
        if self._open[target.token] > AT_ONCE_EACH or self._open.total() > AT_ONCE:
            raise HawseError(
                "limit_exceeded", f"more than {AT_ONCE_EACH} concurrent requests in this preview, or {AT_ONCE} in all"
            )
        visitor = msgspec.structs.replace(PREVIEW, id=f"preview {_id(target.token)}")
        address = address_of(scope)
        pace = self._byte_rates.pace(visitor, address)
        if pace is not None:
            pace.check()
        with self._connections.hold(visitor, address):
            await self._exchange(target, scope, receive, send, visitor, pace)

    async def _exchange(
        self,
        target: PreviewTarget,
        scope: Scope,
        receive: Receive,
        send: Send,
        visitor: Principal,
        pace: Pace | None,
    ) -> None:
        async with PortTunnel(await self._link(target.sandbox), target.token, pace) as tunnel:
            if target.port not in (None, tunnel.port):
                raise HawseError("not_found", "no such preview")
            if self._audit is not None:
                self._audit.preview(visitor, address_of(scope), target.sandbox, tunnel.port)
            secure = scope["scheme"] in ("https", "wss")
            client = scope["client"][0] if scope.get("client") else ""
            public = PublicAddress(tunnel.port, "https" if secure else "http", client)
            if scope["type"] == "websocket":
                await WebSocketRelay(scope, receive, send, tunnel, target, public, self._access_policy).run()
            else:
                if unlimited := scope.get("extensions", {}).get(UNLIMITED_DURATION):
                    unlimited["begin"]()
                await forward(scope, receive, send, tunnel, target, public, self._access_policy)

    async def _link(self, sandbox: str) -> SandboxLink:
        """The link of a sandbox that runs: a preview does not start one. Raises `HawseError`."""
        link = self._links().get(sandbox)
        if link.ready:
            return link
        try:
            info = await self._sandboxes.get(sandbox)
        except HawseError as error:
            if error.code != "not_found":
                raise
            raise HawseError("not_found", "no such preview") from None
        if info.state != "running":
            raise HawseError("stale_handle", "the sandbox is not running")
        return link


def _id(token: str) -> str:
    """Return what names a preview in messages: its token is secret."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _problem(error: HawseError, scope: Scope) -> Response:
    """Return the error as a page for browsers, as JSON for others. A port without a listener is 502."""
    status = HTTPStatus.BAD_GATEWAY if error.code == "unavailable" and error.details else HTTPStatus(error.status)
    accepts = b",".join(value for name, value in scope["headers"] if name == b"accept")
    if b"text/html" not in accepts:
        response = error_response(error)
        response.status_code = status
        return _plain(response)
    title = TITLES.get(error.code, status.phrase)
    page = PAGE.format(title=html.escape(title), text=html.escape(error.message))
    return _plain(HTMLResponse(page, status))


def _preflight(headers: Pairs) -> Response:
    response = _plain(Response(status_code=HTTPStatus.NO_CONTENT))
    response.raw_headers += headers
    return response


def _plain(response: Response) -> Response:
    """Add the headers of the gateway's own responses, which may be on the origin of a preview."""
    response.headers["cache-control"] = "no-store"
    response.headers["content-security-policy"] = (
        f"{SANDBOX.split()[0].decode()}; default-src 'none'; style-src 'unsafe-inline'"
    )
    response.headers["x-content-type-options"] = "nosniff"
    response.headers["referrer-policy"] = "same-origin"
    return response
