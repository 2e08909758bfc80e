"""The gateway as an ASGI application: its routes, and the tasks that live as long as it."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from gateway import VERSION
from gateway.access_methods import AccessMethods
from gateway.audit.log import AuditLog
from gateway.audit.methods import AuditMethods
from gateway.audit.trail import AuditTrail
from gateway.auth.access_policy import AccessPolicy
from gateway.auth.credentials import Credentials
from gateway.auth.tickets import Tickets
from gateway.auth.uses import OpenUses
from gateway.backups.methods import BackupMethods
from gateway.backups.records import BackupRecords
from gateway.backups.stores import BackupStore
from gateway.backups.transfer import BackupTransfers
from gateway.connection.endpoint import ConnectEndpoint
from gateway.http import methods as rest
from gateway.http.context import RequestContexts
from gateway.http.cors import CrossOrigin
from gateway.http.endpoint import REQUESTS, HttpEndpoint, RequestAdmission
from gateway.http.recordings import PATH, RecordingDownloads
from gateway.http.responses import error_response, json_response
from gateway.http.sessions import SessionEndpoints
from gateway.image_methods import ImageMethods
from gateway.limits.calls import CallLimits, CallRates
from gateway.limits.guesses import Guesses
from gateway.limits.pace import ByteRates
from gateway.limits.quotas import HeldLimit, Quotas
from gateway.methods import GatewayMethods
from gateway.metrics.endpoint import MetricsEndpoint
from gateway.preview.addresses import PreviewAddresses
from gateway.preview.proxy import PreviewProxy
from gateway.runtime_calls import LinkedRuntimeCalls
from gateway.sandboxes.feed import SandboxFeed
from gateway.sandboxes.lifecycle import Sandboxes
from gateway.sandboxes.methods import SandboxMethods
from gateway.sandboxes.owners import Owners
from gateway.sandboxes.records import RUNS
from gateway.static import SecurityHeaders, pages
from gateway.store.base import ANY_TABLE
from gateway.upstream.links import Links
from gateway.upstream.observer import CallObserver, Observers
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Limits

log = logging.getLogger(__name__)


class SignOn(Protocol):
    """An identity provider (`gateway.oidc`)."""

    @property
    def name(self) -> str | None:
        """Its name for people; None: it signs no browsers in."""

    def routes(self, access_policy: AccessPolicy, audit: AuditTrail) -> list[Route]:
        """Return the routes of its login."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Follow its keys."""


class HostCheck:
    """ASGI middleware: refuse requests whose `Host` is not a name of this gateway, except for `/healthz`."""

    def __init__(self, app: ASGIApp, access_policy: AccessPolicy) -> None:
        self._app = app
        self._access_policy = access_policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            if scope["type"] != "lifespan" and scope["path"] != "/healthz":
                self._access_policy.check_host(scope["headers"])
        except HawseError as error:
            log.info("< refused: %s", error, extra={"code": error.code})
            if scope["type"] == "websocket":
                await receive()
            await error_response(error)(scope, receive, send)
        else:
            await self._app(scope, receive, send)


async def require_upgrade(request: Request) -> Response:
    """Answer a request for `/v1/connect` that is not a WebSocket handshake (RFC 9110, 15.5.22)."""
    response = error_response(HawseError("protocol_error", "connect with a WebSocket"))
    response.status_code = 426
    response.headers["upgrade"] = "websocket"
    return response


def create_app(
    credentials: Credentials,
    sandboxes: Sandboxes,
    *,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
    limits: Limits | None = None,
    max_connections: int = 1024,
    web: ASGIApp | None = None,
    preview_host: str | None = None,
    audit: AuditLog | None = None,
    quotas: Quotas | None = None,
    calls: CallRates | None = None,
    byte_rates: ByteRates | None = None,
    guesses: Guesses | None = None,
    sign_on: SignOn | None = None,
    observers: Iterable[CallObserver] = (),
    backups: BackupStore | None = None,
) -> Starlette:
    """Create the application; `app.state.connect` is its `ConnectEndpoint`, `app.state.tickets` are its `Tickets`.

    Args:
        credentials: The tokens, links and sessions.
        sandboxes: Starts and lists sandboxes.
        hosts: Names that the gateway is reached by, beside localhost and IP addresses.
        origins: Origins whose pages may call, beside the gateway's own.
        limits: What `welcome` announces. None: the defaults.
        max_connections: How many clients may be connected at once.
        web: Serves the pages. None: the files of `gateway/_web`.
        preview_host: The name below which previews have host names of their own. None: previews by path only.
        audit: The audit log. None: none is kept.
        quotas: The limits of users, links and addresses. None: there are none.
        calls: Limits how often calls are made. None: as `quotas` say.
        byte_rates: Limits how many bytes flow in a second. None: as `quotas` say.
        guesses: Limits wrong credentials by address. None: there is no limit.
        sign_on: The identity provider. None: there is none.
        observers: Are notified of all calls, beside the audit log.
        backups: Where the archives of backups are. None: there are no backups.
    """
    trail = AuditTrail(audit or AuditLog(None))
    allowed = tuple(origins)
    tickets = Tickets(time.monotonic)
    access_policy = AccessPolicy(credentials, tickets, hosts=hosts, origins=allowed, guesses=guesses)
    quotas = quotas or Quotas()
    connections = HeldLimit(quotas, "connections")
    call_limits, byte_rates = CallLimits(quotas, calls), byte_rates or ByteRates(quotas)
    uses = OpenUses(expiry=credentials.expiry, connections=connections)
    credentials.on_ended.append(uses.end)
    admission = RequestAdmission(access_policy, Shares(REQUESTS, "requests"), uses, byte_rates)
    owners = Owners(sandboxes.store)
    access_methods = AccessMethods(credentials, uses, owners.owns)
    methods = [GatewayMethods(preview_host=preview_host), access_methods, AuditMethods(trail.log)]
    feed = SandboxFeed(sandboxes)
    provider = None if sign_on is None else sign_on.name
    connect = ConnectEndpoint(access_policy, uses, limits or Limits(), max_connections, trail, byte_rates)
    observer = Observers([call_limits, trail, *observers])

    def links() -> Links:
        assert connect.links is not None, "the application's lifespan has not begun"
        return connect.links

    async def healthz(request: Request) -> Response:
        return json_response({"status": "ok", "version": VERSION})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with (
            trail.log.running(),
            sandboxes.running(),
            credentials.running(),
            owners.running(),
            nullcontext() if sign_on is None else sign_on.running(),
            asyncio.TaskGroup() as tasks,
        ):
            about_backups = None
            if backups is not None:
                records = BackupRecords(sandboxes.store)
                transfers = BackupTransfers(links, backups, records, owners.owns)
                about_backups = BackupMethods(transfers, records, tasks, limit=quotas.number("user", "backups"))
            own_sandboxes = SandboxMethods(
                sandboxes,
                feed,
                owners,
                limit=quotas.number("user", "sandboxes"),
                end_links=access_methods.end_links,
                snapshots=about_backups,
            )
            own_methods: list[object] = [*methods, own_sandboxes, ImageMethods(sandboxes, tasks)]
            if about_backups is not None:
                own_methods.append(about_backups)
            table = connect.links = Links(
                sandboxes, tasks, own_methods, observer=observer, owns=owners.owns, limits=call_limits
            )
            stop_listening = sandboxes.store.listen(
                lambda name, key: table.retry_waiting() if name in (RUNS, ANY_TABLE) else None
            )
            sandboxes.calls = LinkedRuntimeCalls(links)
            running = [tasks.create_task(feed.run(), name="sandbox.watch")]
            if about_backups is not None:
                running.append(tasks.create_task(about_backups.sweep(), name="backups"))
            yield
            stop_listening()
            sandboxes.calls = None
            for task in running:
                task.cancel()
            if about_backups is not None:
                await about_backups.close()
            table.stop()

    app = Starlette(
        routes=[
            Route("/healthz", healthz),
            Route(
                "/metrics", MetricsEndpoint(access_policy, sandboxes, connect, links, trail).__call__, methods=["GET"]
            ),
            *SessionEndpoints(access_policy, credentials, tickets, trail, provider).routes(),
            *([] if sign_on is None else sign_on.routes(access_policy, trail)),
            Route(PATH, HttpEndpoint(admission, RecordingDownloads(links).read, ticket=True), methods=["GET"]),
            WebSocketRoute("/v1/connect", connect),
            Route("/v1/connect", require_upgrade),
            *rest.routes(admission, links),
            Mount("/", web or pages()),
        ],
        middleware=[
            Middleware(
                PreviewProxy,
                access_policy=access_policy,
                sandboxes=sandboxes,
                links=links,
                addresses=PreviewAddresses(preview_host),
                byte_rates=byte_rates,
                connections=connections,
                audit=trail,
            ),
            Middleware(RequestContexts, observer=trail),
            Middleware(SecurityHeaders, origins=allowed, preview_host=preview_host),
            Middleware(HostCheck, access_policy=access_policy),
            Middleware(CrossOrigin, origins=allowed),
        ],
        lifespan=lifespan,
    )
    app.state.connect = connect
    app.state.tickets = tickets
    app.state.owners = owners
    return app
