"""The gateway as an ASGI application: its routes, and the tasks that live as long as it."""

import asyncio
import logging
import secrets
import time
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from typing import Protocol

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from hawse.api.egress import EgressRefusal
from hawse.api.sandboxes import Network
from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Limits
from hawse.wire.join import JOIN_PATH
from hawse_gateway import VERSION
from hawse_gateway.audit.log import AuditLog
from hawse_gateway.audit.methods import AuditMethods
from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.methods import AccessMethods
from hawse_gateway.auth.tickets import Tickets
from hawse_gateway.auth.uses import OpenUses
from hawse_gateway.backups.images import BackupImages
from hawse_gateway.backups.methods import BackupMethods
from hawse_gateway.backups.overlays import BackupOverlays
from hawse_gateway.backups.records import BackupRecords
from hawse_gateway.backups.space import BACKUPS_OF_EACH_USER, OF_ALL, OF_EACH_USER, BackupSpace
from hawse_gateway.backups.stores import BackupStore
from hawse_gateway.backups.transfer import BackupTransfers
from hawse_gateway.connection.endpoint import ConnectEndpoint
from hawse_gateway.connection.join import JoinEndpoint
from hawse_gateway.http import methods as rest
from hawse_gateway.http.context import RequestContexts
from hawse_gateway.http.cors import CrossOrigin
from hawse_gateway.http.endpoint import REQUESTS, HttpEndpoint, RequestAdmission
from hawse_gateway.http.recordings import PATH, RecordingDownloads
from hawse_gateway.http.responses import error_response, json_response
from hawse_gateway.http.sessions import SessionEndpoints
from hawse_gateway.http.static import SecurityHeaders, pages
from hawse_gateway.limits.calls import CallLimits, CallRates
from hawse_gateway.limits.guesses import Guesses
from hawse_gateway.limits.pace import ByteRates
from hawse_gateway.limits.quotas import HeldLimit, Quotas
from hawse_gateway.limits.shared import SharedLimits
from hawse_gateway.metrics.endpoint import MetricsEndpoint
from hawse_gateway.mounts.keeper import MountKeeper
from hawse_gateway.mounts.methods import MountedSandboxes, MountMethods, MountOptions
from hawse_gateway.mounts.processes import MountProcesses
from hawse_gateway.mounts.records import MountRecords
from hawse_gateway.preview.addresses import PreviewAddresses
from hawse_gateway.preview.methods import GatewayMethods
from hawse_gateway.preview.proxy import PreviewProxy
from hawse_gateway.preview.visits import Visits, visit_tunnel
from hawse_gateway.providers.isolation import host_user
from hawse_gateway.providers.joined.provider import JOINED, JoinedProvider
from hawse_gateway.sandboxes.egress_methods import EgressMethods
from hawse_gateway.sandboxes.feed import SandboxFeed
from hawse_gateway.sandboxes.image_methods import ImageMethods
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.methods import SandboxMethods
from hawse_gateway.sandboxes.owners import Owners
from hawse_gateway.sandboxes.records import RUNS, read_run
from hawse_gateway.store.base import ANY_TABLE, StoreError
from hawse_gateway.tunnels.connections import TunnelConnections
from hawse_gateway.tunnels.listeners import TunnelListeners
from hawse_gateway.tunnels.methods import TunnelMethods
from hawse_gateway.tunnels.options import TunnelOptions
from hawse_gateway.tunnels.publications import Publications
from hawse_gateway.tunnels.table import TunnelTable
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.observer import CallObserver, Observers
from hawse_gateway.upstream.runtime_calls import LinkedRuntimeCalls

log = logging.getLogger(__name__)


class SignOn(Protocol):
    """An identity provider (`hawse_gateway.sign_on.oidc`)."""

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
    user_networks: Collection[Network] | None = None,
    backups_size: int = OF_ALL,
    mounts: MountOptions | None = None,
    tunnel_options: TunnelOptions | None = None,
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
        user_networks: The networks that users without every right may choose. None: all.
        backups_size: Bytes that all backups may have.
        mounts: How mounts are made. None: there are none.
        tunnel_options: What tunnels may use beside this gateway's own HTTP port. None: nothing.
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
    tunnels = TunnelTable(sandboxes.store)
    methods: list[object] = [
        GatewayMethods(preview_host=preview_host),
        access_methods,
        AuditMethods(trail.log),
    ]
    feed = SandboxFeed(sandboxes)
    provider = None if sign_on is None else sign_on.name
    connect = ConnectEndpoint(access_policy, uses, limits or Limits(), max_connections, trail, byte_rates)
    observer = Observers([call_limits, trail, *observers])

    async def note_refusal(unit: str, refusal: EgressRefusal) -> None:
        try:
            run = await read_run(sandboxes.store, unit)
        except StoreError:
            run = None
        trail.egress(unit if run is None else run.value.sandbox, refusal)

    joined = sandboxes.providers.get(JOINED)
    machines = joined.machines if isinstance(joined, JoinedProvider) else None
    joins: list[BaseRoute] = []
    if isinstance(joined, JoinedProvider):
        join = JoinEndpoint(access_policy, uses, joined, lambda: sandboxes.joining, trail, owns=owners.owns)
        joins = [WebSocketRoute(JOIN_PATH, join), Route(JOIN_PATH, require_upgrade)]

    for each in sandboxes.providers.values():
        if each.egress is not None:
            each.egress.follower.on_refusal = note_refusal

    shared = None
    if (limit_store := sandboxes.store.limits) is not None:
        tables = {f"calls:{who}": table for who, table in call_limits.rates.tables.items()}
        tables |= {f"bytes:{who}": table for who, table in byte_rates.tables.items()}
        held = (connections, call_limits.terminals)
        shared = SharedLimits(limit_store, secrets.token_hex(8), tables=tables, held=held, guesses=guesses)

    def links() -> Links:
        assert connect.links is not None, "the application's lifespan has not begun"
        return connect.links

    visits = Visits(sandboxes, links, tunnels, byte_rates=byte_rates, connections=connections, audit=trail)
    tunnel_options = tunnel_options or TunnelOptions()
    tunnel_connections = TunnelConnections(
        lambda record, address, ended: visits.connected(visit_tunnel(record), address, ended)
    )
    listeners = TunnelListeners(tunnels, tunnel_options, tunnel_connections, preview_host=preview_host)
    publications = None
    if tunnel_options.providers and tunnel_options.root is not None:
        publications = Publications(tunnels, tunnel_options.providers, tunnel_connections, tunnel_options.root)
    methods.append(
        TunnelMethods(
            tunnels,
            preview_host=preview_host,
            limit=quotas.number("user", "tunnels"),
            options=tunnel_options,
            ports=listeners,
            publications=publications,
        )
    )

    async def healthz(request: Request) -> Response:
        return json_response({"status": "ok", "version": VERSION})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with (
            trail.log.running(),
            sandboxes.running(),
            credentials.running(),
            owners.running(),
            tunnels.running(),
            nullcontext() if sign_on is None else sign_on.running(),
            asyncio.TaskGroup() as tasks,
        ):
            if isinstance(joined, JoinedProvider):
                joined.why = sandboxes.joining.why
            keeper = mount_methods = None
            if mounts is not None:
                store, processes = sandboxes.store, MountProcesses(mounts.root, mounts.settings)
                keeper = MountKeeper(
                    store, sandboxes.providers, processes, mounts.settings, mounts.locks, mounts.images
                )
                limit = quotas.number("user", "mounts")
                mount_methods = MountMethods(store, sandboxes, keeper, mounts.settings, limit=limit)
            about_backups = None
            if backups is not None:
                overlays = None
                if mounts is not None and mount_methods is not None:
                    mounted = MountRecords(sandboxes.store).backups
                    images = BackupImages(
                        mounts.images, backups.read, mounted, size=mounts.images_size, user_of=host_user.of_process
                    )
                    overlays = BackupOverlays(images, mount_methods)
                records = BackupRecords(sandboxes.store)
                space = BackupSpace(
                    records,
                    total=backups_size,
                    each=quotas.number("user", "storage") or OF_EACH_USER,
                    count=quotas.number("user", "backups") or BACKUPS_OF_EACH_USER,
                )
                transfers = BackupTransfers(links, backups, records, owners.owns, space=space, overlays=overlays)
                about_backups = BackupMethods(transfers, records, tasks, space=space)
            own_sandboxes = SandboxMethods(
                sandboxes,
                feed,
                owners,
                limit=quotas.number("user", "sandboxes"),
                end_links=access_methods.end_links,
                snapshots=about_backups,
                user_networks=user_networks,
            )
            own_egress = EgressMethods(sandboxes.egress, tasks, user_networks=user_networks)
            own_methods: list[object] = [*methods, own_sandboxes, own_egress, ImageMethods(sandboxes, tasks)]
            if about_backups is not None:
                own_methods.append(about_backups)
            if mount_methods is not None:
                own_methods.append(mount_methods)
            source = sandboxes if keeper is None else MountedSandboxes(sandboxes, keeper)
            table = connect.links = Links(
                source,
                tasks,
                own_methods,
                observer=observer,
                owns=owners.owns,
                limits=call_limits,
                machines=machines,
                alone_for=sandboxes.vacancy.seconds,
                shared=sandboxes.store.limits is not None,
            )
            stop_listening = sandboxes.store.listen(
                lambda name, key: table.retry_waiting() if name in (RUNS, ANY_TABLE) else None
            )
            sandboxes.calls = LinkedRuntimeCalls(links)
            running = [tasks.create_task(feed.run(), name="sandbox.watch")]
            if shared is not None:
                running.append(tasks.create_task(shared.run(), name="limits"))
            running.append(tasks.create_task(listeners.run(), name="tunnels"))
            if publications is not None:
                running.append(tasks.create_task(publications.run(), name="tunnels of others"))
            if keeper is not None:
                running.append(tasks.create_task(keeper.run(), name="mounts"))
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
                "/metrics",
                MetricsEndpoint(access_policy, sandboxes, connect, links, trail, machines).__call__,
                methods=["GET"],
            ),
            *SessionEndpoints(access_policy, credentials, tickets, trail, provider).routes(),
            *([] if sign_on is None else sign_on.routes(access_policy, trail)),
            Route(PATH, HttpEndpoint(admission, RecordingDownloads(links).read, ticket=True), methods=["GET"]),
            WebSocketRoute("/v1/connect", connect),
            Route("/v1/connect", require_upgrade),
            *joins,
            *rest.routes(admission, links),
            Mount("/", web or pages()),
        ],
        middleware=[
            Middleware(
                PreviewProxy,
                access_policy=access_policy,
                visits=visits,
                tunnels=tunnels,
                addresses=PreviewAddresses(preview_host),
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
