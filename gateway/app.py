"""The gateway as an ASGI application: its routes, and the tasks that live as long as it does."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway import VERSION
from gateway.auth.access_policy import AccessPolicy
from gateway.auth.tickets import LIFETIME, Tickets
from gateway.connection.endpoint import ConnectEndpoint
from gateway.http import methods as rest
from gateway.http.recordings import PATH, RecordingDownloads
from gateway.http.responses import error_response, json_response
from gateway.methods import GatewayMethods
from gateway.metrics.endpoint import MetricsEndpoint
from gateway.preview.addresses import PreviewAddresses
from gateway.preview.proxy import PreviewProxy
from gateway.providers.base import Provider
from gateway.static import SecurityHeaders, pages
from gateway.upstream.links import Links
from hawse.wire import HawseError, Limits


class HostCheck:
    """ASGI middleware: turns away whoever calls us by a foreign name. `/healthz` tells no secret, so it is open."""

    def __init__(self, app: ASGIApp, access_policy: AccessPolicy) -> None:
        self._app = app
        self._access_policy = access_policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (
            scope["type"] == "lifespan"
            or scope["path"] == "/healthz"
            or self._access_policy.host_allowed(scope["headers"])
        ):
            await self._app(scope, receive, send)
            return
        if scope["type"] == "websocket":
            await receive()
        await error_response(HawseError("origin_denied", "not a name of this gateway"))(scope, receive, send)


def create_app(
    access_policy: AccessPolicy,
    provider: Provider,
    *,
    limits: Limits | None = None,
    max_connections: int = 1024,
    web: ASGIApp | None = None,
    preview_host: str | None = None,
) -> Starlette:
    """`app.state.connect` is the `ConnectEndpoint` that knows who is connected."""
    tickets = Tickets(time.monotonic)
    methods = GatewayMethods(provider, viewer_token=access_policy.viewer_token, preview_host=preview_host)
    connect = ConnectEndpoint(access_policy, tickets, limits or Limits(), max_connections)

    def links() -> Links:
        assert connect.links is not None, "the application's lifespan has not begun"
        return connect.links

    async def healthz(request: Request) -> Response:
        return json_response({"status": "ok", "version": VERSION})

    async def issue_ticket(request: Request) -> Response:
        headers = request.scope["headers"]
        try:
            principal = access_policy.admit(headers, request.scope["scheme"])
            return json_response({"ticket": tickets.issue(principal), "expires_in": int(LIFETIME)}, 201)
        except HawseError as error:
            return error_response(error)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            connect.links = Links(provider, tasks, [methods])
            yield
            connect.links.stop()
            await provider.close()

    app = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route("/metrics", MetricsEndpoint(access_policy, provider, connect, links).__call__, methods=["GET"]),
            Route("/v1/tickets", issue_ticket, methods=["POST"]),
            Route(PATH, RecordingDownloads(access_policy, tickets, links).__call__, methods=["GET"]),
            WebSocketRoute("/v1/connect", connect),
            *rest.routes(access_policy, links),
            Mount("/", web or pages()),
        ],
        middleware=[
            Middleware(
                PreviewProxy,
                access_policy=access_policy,
                provider=provider,
                links=links,
                addresses=PreviewAddresses(preview_host),
            ),
            Middleware(SecurityHeaders),
            Middleware(HostCheck, access_policy=access_policy),
        ],
        lifespan=lifespan,
    )
    app.state.connect = connect
    return app
