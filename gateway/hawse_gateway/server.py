"""The gateway process: uvicorn with hawse's protocols, signal handling and shutdown. `hawse serve` calls `serve`."""

import asyncio
import contextlib
import errno
import gc
import logging
import resource
import signal
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

import uvicorn
import uvloop
from uvicorn.config import STARTUP_FAILURE
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from hawse.api.sandboxes import SandboxInfo
from hawse.wire import HawseError
from hawse_gateway.app import GatewayApp, create_app
from hawse_gateway.auth.hosts import split_host
from hawse_gateway.auth.proxy_user import SCOPE_KEY, ProxyUser
from hawse_gateway.connection.endpoint import ConnectEndpoint
from hawse_gateway.core import log_config as logs
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.egress.settings import EgressSettingsError
from hawse_gateway.providers.base import ProviderError
from hawse_gateway.providers.isolation_lines import isolation_lines
from hawse_gateway.providers.state_directory import StateDirectory, StateError
from hawse_gateway.sandboxes.lifecycle import Sandboxes
from hawse_gateway.sandboxes.overview.index import EVERYWHERE
from hawse_gateway.sandboxes.templates import TemplateError
from hawse_gateway.settings import Settings
from hawse_gateway.store.base import Store, StoreError
from hawse_gateway.transport import listener as sockets, tls
from hawse_gateway.transport.forwarded import ForwardedHeader
from hawse_gateway.transport.proxy_user import ProxyUserHeaders, UserHeaders
from hawse_gateway.transport.startup_errors import StartupErrors
from hawse_gateway.transport.tls import Certificate, CertificateError
from hawse_gateway.transport.uvicorn_http import HttpProtocol
from hawse_gateway.transport.uvicorn_websocket import WebSocketProtocol

log = logging.getLogger(__name__)

SPARE_CONNECTIONS: Final = 256  # extra sockets for pages, tickets and clients refused with 4429
SPARE_FILES: Final = 64  # maximum number of open files besides sockets
RETRY_AFTER: Final = 1.0  # seconds to wait before reconnecting, sent to clients in `goaway`
GOAWAY_TIMEOUT: Final = 1.0  # seconds to wait for clients to receive `goaway`
PING: Final = 20.0  # seconds between WebSocket pings, and the timeout for each pong
CLOSE_TIMEOUT: Final = 1.0  # seconds to wait for client connections to close
END_TIMEOUT: Final = 0.5  # seconds to wait for client requests to finish
POLL: Final = 0.01  # s
TICK: Final = 1.0  # seconds between updates of the `Date` header
STARTUP_ERRORS: Final = (HawseError, StoreError)  # the store, or a provider's engine or cluster, does not respond
SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def serve(settings: Settings, *, verbose: bool = False) -> int:
    """Serve until a signal arrives. Return the exit code. Invalid settings are reported on stderr."""
    try:
        settings.check()
        logs.configure(verbose=verbose, form=settings.log_format)
        state = StateDirectory(settings.state)
        token = settings.token or state.token()
        app = create_app(replace(settings, token=token), {StateDirectory: state})
        certificate = None if settings.tls_cert is None else Certificate(settings.tls_cert, settings.tls_key)
        listener = _listen(settings.host, settings.port)
    except CertificateError as error:
        print(f"hawse: --tls-cert, --tls-key: {error}", file=sys.stderr)
        return 2
    except (SettingsError, StateError, ProviderError, StoreError, TemplateError, EgressSettingsError) as error:
        print(f"hawse: {error}", file=sys.stderr)
        return 2
    parts = app.composition

    async def announce() -> None:
        for line in await isolation_report(parts.part(Sandboxes)):
            logs.announce(line, settings.log_format)
        # A token from the settings isn't printed, because container and service logs are collected and stored.
        fragment = "" if settings.token is not None else f"#token={quote(token, safe='')}"
        logs.announce(f"  {_address(settings, listener)}/{fragment}", settings.log_format)

    _allow_files(parts.connections + parts.sockets + SPARE_CONNECTIONS + SPARE_FILES)
    gc.freeze()  # makes the garbage collector skip existing objects, which are never freed
    with listener:
        try:
            uvloop.run(GatewayServer(app, settings, announce, certificate).serve(sockets=[listener]))
        except StoreError as error:
            print(f"hawse: the store cannot be used: {error}", file=sys.stderr)
            return STARTUP_FAILURE
    return 0


async def isolation_report(sandboxes: Sandboxes) -> list[str]:
    """Return the lines about isolation that are printed at startup. Only the first page of sandboxes is examined."""
    found: list[SandboxInfo] = []
    more: list[str] = []
    try:
        found, after = await sandboxes.page(EVERYWHERE, {})
    except HawseError as error:
        more = [f"! the isolation of running sandboxes is unknown: {error.message}"]
    else:
        if after is not None:
            count = len(sandboxes.index.visible) - len(found)
            more = [f"  the isolation of {count} more sandboxes was not checked"]
    return [*isolation_lines(sandboxes.capabilities(), found), *more]


class GatewayServer(uvicorn.Server):
    """A uvicorn server for one application."""

    def __init__(
        self,
        app: GatewayApp,
        settings: Settings,
        announce: Callable[[], Awaitable[None]] | None = None,
        certificate: Certificate | None = None,
    ) -> None:
        """Create a server. Call `serve` to run it.

        Args:
            app: The application.
            settings: The gateway's settings.
            announce: Called once the server accepts connections.
            certificate: The server's certificate. None disables TLS.
        """
        super().__init__(config(app, settings))
        self._certificate = certificate
        self._connect = app.composition.part(ConnectEndpoint)
        self._store = app.composition.part(Store)
        self._announce = announce
        self._shutdown_requested = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen on `sockets`. Replaces uvicorn's method, which allows 60 seconds for a TLS handshake.

        Raises:
            StoreError: The store does not respond, so the features cannot start.
        """
        await self._ask_store()
        await self.lifespan.startup()
        if self.lifespan.should_exit:
            sys.exit(STARTUP_FAILURE)
        loop, certificate = asyncio.get_running_loop(), self._certificate
        self.servers = [
            await loop.create_server(
                self._create_protocol,
                sock=listener,
                backlog=self.config.backlog,
                ssl=None if certificate is None else certificate.context,
                ssl_handshake_timeout=None if certificate is None else tls.HANDSHAKE_TIMEOUT,
            )
            for listener in sockets or ()
        ]
        self.started = True
        if self._announce is not None:
            await self._announce()

    async def _ask_store(self) -> None:
        try:
            await self._store.time()
        except StoreError:
            await self._store.close()
            raise

    def _create_protocol(self) -> asyncio.Protocol:
        protocol: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop listening, ask clients to reconnect, and close the remaining connections. Runtimes keep running."""
        for server in self.servers:
            server.close()
        log.info("= shutting down, %d clients", self._connect.client_count)
        self._connect.go_away("the gateway restarts", RETRY_AFTER)
        await self._wait(GOAWAY_TIMEOUT, lambda: not self._connect.client_count)
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await self._wait(CLOSE_TIMEOUT, lambda: not (self.server_state.connections or self.server_state.tasks))
        for connection in self.server_state.connections:
            connection.transport.abort()
        await self._wait(END_TIMEOUT, lambda: not self.server_state.tasks)  # disconnected clients' requests
        for task in self.server_state.tasks:
            task.cancel("the gateway ends")
        await self.lifespan.shutdown()

    async def _wait(self, seconds: float, condition: Callable[[], bool]) -> None:
        """Wait until `condition` is true, `seconds` have passed, or a second signal arrives."""
        deadline = time.monotonic() + seconds
        while not (condition() or self.force_exit or time.monotonic() > deadline):  # noqa: ASYNC110  # uvicorn's sets
            await asyncio.sleep(POLL)

    async def main_loop(self) -> None:
        looked = time.monotonic()
        while not self.should_exit:
            await self.on_tick(0)
            if self._certificate is not None and time.monotonic() - looked >= tls.POLL:
                looked = time.monotonic()
                await asyncio.to_thread(self._certificate.reload)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(TICK):
                    await self._shutdown_requested.wait()

    def begin_shutdown(self) -> None:
        """Start shutting down. A second call stops waiting for clients."""
        self.force_exit = self.should_exit
        self.should_exit = True
        self._shutdown_requested.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handle signals. Unlike in uvicorn, signals are not raised again on exit, so that the exit code is 0.

        SIGINT is handled even if the shell disabled it for a background job. SIGHUP stays ignored under `nohup`."""
        loop = asyncio.get_running_loop()
        handled = [n for n in SIGNALS if n != signal.SIGHUP or signal.getsignal(n) is not signal.SIG_IGN]
        for number in handled:
            loop.add_signal_handler(number, self.begin_shutdown)
        try:
            yield
        finally:
            for number in handled:
                loop.remove_signal_handler(number)


def config(app: GatewayApp, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        _behind_proxies(StartupErrors(app.asgi, STARTUP_ERRORS), settings),
        http=HttpProtocol,
        ws=WebSocketProtocol,
        ws_max_size=settings.limits.text,
        ws_per_message_deflate=False,
        ws_ping_interval=PING,
        ws_ping_timeout=PING,
        lifespan="on",
        interface="asgi3",
        log_config=None,
        access_log=False,  # access logs would contain tickets
        proxy_headers=False,  # `_behind_proxies` reads the headers from trusted proxies
        server_header=False,
        limit_concurrency=app.composition.connections + SPARE_CONNECTIONS,
        backlog=sockets.BACKLOG,
    )


def _behind_proxies(app: Any, settings: Settings) -> Any:
    """Wrap the application so that it applies forwarded headers from trusted proxies."""
    if not settings.proxies:
        return app
    if settings.proxy_headers == "forwarded":
        app = ForwardedHeader(app, settings.proxies)
    else:
        app = ProxyHeadersMiddleware(app, trusted_hosts=list(settings.proxies))
    if settings.proxy_user_header is not None:  # the outermost layer, because it needs the proxy's own address
        names = UserHeaders(settings.proxy_user_header, settings.proxy_groups_header)
        app = ProxyUserHeaders(app, settings.proxies, names, SCOPE_KEY, ProxyUser)
    return app


def _listen(host: str, port: int) -> socket.socket:
    try:
        return sockets.listen(host, port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(f"port {port} on {host} is already in use: choose another with --port") from error
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from error


def _allow_files(count: int) -> None:
    """Raise the open file limit to `count`, because most shells' default limit is too low."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _address(settings: Settings, listener: socket.socket) -> str:
    """Return the URL to open in a browser. With TLS, prefer an allowed name, because certificates rarely contain IP
    addresses."""
    name = "127.0.0.1" if settings.host in ("0.0.0.0", "::", "") else settings.host
    if settings.tls_cert is not None and settings.hosts:
        name = split_host(settings.hosts[0], "https")[0]
    scheme = "http" if settings.tls_cert is None else "https"
    return f"{scheme}://{f'[{name}]' if ':' in name else name}:{listener.getsockname()[1]}"
