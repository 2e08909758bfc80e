"""Previews and tunnels: forwards requests to a program listening on a port in a sandbox.

The middleware is outermost, so requests to previews and tunnels bypass the gateway's own routes, headers and checks.
All other requests are passed on unchanged. The runtime checks the preview token in each request (docs/decisions/0037),
and the gateway looks up tunnels in its own table (docs/decisions/0250).
"""

import html
import logging
from collections import Counter
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hawse.wire import HawseError
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.http.endpoint import address_of
from hawse_gateway.http.responses import error_response
from hawse_gateway.preview.addresses import PreviewAddresses, PreviewTarget
from hawse_gateway.preview.headers import SANDBOX, Pairs, PublicAddress, preflight_response
from hawse_gateway.preview.http import forward
from hawse_gateway.preview.ingress import Ingress, IngressRequest, no_tunnel, preview_request, tunnel_request
from hawse_gateway.preview.websocket import WebSocketRelay
from hawse_gateway.transport.uvicorn_http import UNLIMITED_DURATION
from hawse_gateway.tunnels.table import TunnelTable

log = logging.getLogger(__name__)

# Maximum number of concurrent requests to all previews, including WebSockets. Each uses a socket and a link channel.
AT_ONCE: Final = 512
AT_ONCE_EACH: Final = 256  # maximum number of concurrent requests to a preview
PAGE: Final = """<!doctype html><meta charset="utf-8"><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<body style="font:16px/1.5 system-ui;max-width:40rem;margin:15vh auto;padding:0 1rem">
<h1 style="font-size:1.4rem">{title}</h1><p>{text}</p>
"""
TITLES: Final = {
    "not_found": "No such preview",
    "stale_handle": "This preview has ended",
    "unavailable": "The program is not listening yet",
    "forbidden": "Not allowed",
}
TUNNEL_TITLES: Final = TITLES | {"not_found": "No such address", "stale_handle": "This address does not work now"}


class PreviewProxy:
    """The outermost ASGI middleware, which handles requests to previews and tunnels."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        access_policy: AccessPolicy,
        ingress: Ingress,
        tunnels: TunnelTable,
        addresses: PreviewAddresses,
    ) -> None:
        """Wrap an ASGI application.

        Args:
            app: The application that handles all other requests.
            access_policy: Recognizes the gateway's host names.
            ingress: Connects visitors to ports.
            tunnels: The tunnels.
            addresses: Recognizes requests to previews and tunnels.
        """
        self._app = app
        self._access_policy = access_policy
        self._ingress = ingress
        self._tunnels = tunnels
        self._addresses = addresses
        self._open: Counter[tuple[bool, str]] = Counter()  # number of open requests per preview and tunnel

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        target = None if scope["type"] == "lifespan" else self._addresses.find(scope)
        # The gateway's own host names take precedence over tunnels, because tunnel names are chosen by users.
        if target is None or (
            (target.by_path or target.tunnel) and self._access_policy.host_allowed(scope["headers"]) != target.by_path
        ):
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
        key = (target.tunnel, target.token)
        self._open[key] += 1
        try:
            if scope["type"] == "websocket":
                await receive()  # consumes websocket.connect, the first event of every WebSocket
            await self._forward(target, scope, receive, send)
        except HawseError as error:
            log.info(
                "! preview of %s: %s",
                target.sandbox or f"tunnel {target.token}",
                error,
                extra={"sandbox": target.sandbox, "code": error.code},
            )
            await _problem(error, scope, TUNNEL_TITLES if target.tunnel else TITLES)(scope, receive, send)
        finally:
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]

    async def _forward(self, target: PreviewTarget, scope: Scope, receive: Receive, send: Send) -> None:
        if self._open[target.tunnel, target.token] > AT_ONCE_EACH or self._open.total() > AT_ONCE:
            raise HawseError(
                "limit_exceeded", f"more than {AT_ONCE_EACH} concurrent requests at this address, or {AT_ONCE} in all"
            )
        async with self._ingress.connected(self._ingress_request(target), address_of(scope)) as tunnel:
            secure = scope["scheme"] in ("https", "wss")
            client = scope["client"][0] if scope.get("client") else ""
            public = PublicAddress(tunnel.port, "https" if secure else "http", client)
            if scope["type"] == "websocket":
                await WebSocketRelay(scope, receive, send, tunnel, target, public, self._access_policy).run()
            else:
                if unlimited := scope.get("extensions", {}).get(UNLIMITED_DURATION):
                    unlimited["begin"]()
                await forward(scope, receive, send, tunnel, target, public, self._access_policy)

    def _ingress_request(self, target: PreviewTarget) -> IngressRequest:
        """Return the ingress request for a target. Raises `HawseError` (`not_found`) if the tunnel does not exist."""
        if not target.tunnel:
            return preview_request(target.sandbox, target.token, target.port)
        record = self._tunnels.find(target.token)
        if record is None or record.kind != "http" or record.provider != "gateway":
            raise no_tunnel()
        return tunnel_request(record)


def _problem(error: HawseError, scope: Scope, titles: Mapping[str, str]) -> Response:
    """Return an error as a page to browsers and as JSON to other clients. If nothing listens on the port, the status is
    502.
    """
    status = HTTPStatus.BAD_GATEWAY if error.code == "unavailable" and error.details else HTTPStatus(error.status)
    accepts = b",".join(value for name, value in scope["headers"] if name == b"accept")
    if b"text/html" not in accepts:
        response = error_response(error)
        response.status_code = status
        return _plain(response)
    title = titles.get(error.code, status.phrase)
    page = PAGE.format(title=html.escape(title), text=html.escape(error.message))
    return _plain(HTMLResponse(page, status))


def _preflight(headers: Pairs) -> Response:
    response = _plain(Response(status_code=HTTPStatus.NO_CONTENT))
    response.raw_headers += headers
    return response


def _plain(response: Response) -> Response:
    """Add security headers to one of the gateway's own responses, which can be sent from a preview's origin."""
    response.headers["cache-control"] = "no-store"
    response.headers["content-security-policy"] = (
        f"{SANDBOX.split()[0].decode()}; default-src 'none'; style-src 'unsafe-inline'"
    )
    response.headers["x-content-type-options"] = "nosniff"
    response.headers["referrer-policy"] = "same-origin"
    return response
