"""MCP over streamable HTTP. The server calls the gateway with the token from each request."""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import Any, Final

import uvicorn
from mcp.server import Server
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from hawse.client import Client, Sandbox
from hawse.mcp.server import Context, make_server
from hawse.mcp.tool import ServerOptions
from hawse.wire import HawseError

PATH: Final = "/mcp"
CLIENTS_MAX: Final = 64  # maximum number of gateway connections, one per token; idle ones are closed for new tokens
CONNECT_TIME: Final = 10.0  # how long the gateway may take to accept a token, in seconds
STATE: Final = "hawse.client"  # key for the client in a request's scope


class Clients:
    """The connections to the gateway, keyed by token."""

    def __init__(self, dial: Callable[[str], Client], limit: int = CLIENTS_MAX) -> None:
        """Create the table.

        Args:
            dial: Returns an unconnected client for a token.
            limit: Maximum number of clients.
        """
        self._dial = dial
        self._limit = limit
        self._clients: OrderedDict[bytes, _Entry] = OrderedDict()

    @asynccontextmanager
    async def use(self, token: str) -> AsyncIterator[Client]:
        """Yield the connected client for `token`. The client remains open for later requests.

        Raises:
            HawseError: `unauthenticated`, `unavailable`; `limit_exceeded` if all clients are in use.
        """
        name = hashlib.sha256(token.encode()).digest()
        entry = self._clients.get(name)
        if entry is None:
            await self._make_room()
            entry = self._clients.setdefault(name, _Entry(self._dial(token)))
        self._clients.move_to_end(name)
        entry.users += 1
        try:
            async with entry.lock:
                if not entry.open:
                    async with asyncio.timeout(CONNECT_TIME):
                        await entry.exits.enter_async_context(entry.client)
                    entry.open = True
            yield entry.client
        except TimeoutError:
            raise HawseError("unavailable", "the gateway does not answer", admitted="no") from None
        finally:
            entry.users -= 1
            if not entry.open and not entry.users:
                self._clients.pop(name, None)

    async def close(self) -> None:
        """Close all clients."""
        clients, self._clients = self._clients, OrderedDict()
        for entry in clients.values():
            await entry.exits.aclose()

    async def _make_room(self) -> None:
        if len(self._clients) < self._limit:
            return
        name = next((name for name, entry in self._clients.items() if not entry.users), None)
        if name is None:
            raise HawseError("limit_exceeded", f"{self._limit} users are connected", admitted="no")
        await self._clients.pop(name).exits.aclose()


class _Entry:
    """A client and the number of requests using it."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.exits = AsyncExitStack()
        self.lock = asyncio.Lock()
        self.open = False
        self.users = 0  # number of requests in progress


class Authenticate:
    """ASGI middleware that gives each request the client for its bearer token, and refuses requests without a valid
    token.

    The library compares a request's user with the user who opened the MCP session. To any other user, the session
    appears not to exist.
    """

    def __init__(self, app: ASGIApp, clients: Clients) -> None:
        self._app = app
        self._clients = clients

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        token = _bearer(scope)
        if token is None:
            await _refused("send the gateway's token: Authorization: Bearer TOKEN")(scope, receive, send)
            return
        try:
            async with self._clients.use(token) as client:
                scope.setdefault("state", {})[STATE] = client
                scope["user"] = _user(client)
                await self._app(scope, receive, send)
        except HawseError as error:
            if error.code == "unauthenticated":
                await _refused(error.message)(scope, receive, send)
                return
            problem = {"error": f"{error.code}: {error.message}"}
            await JSONResponse(problem, status_code=503, headers={"retry-after": "1"})(scope, receive, send)


class _Server(uvicorn.Server):
    """A uvicorn server without signal handling, because `hawse.run` already cancels `serve_http` on signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve_http(dial: Callable[[str], Client], sandbox: str, host: str, port: int, options: ServerOptions) -> None:
    """Serve MCP over HTTP until cancelled. Requests in progress are ended before this returns.

    Args:
        dial: Returns an unconnected client for a token.
        sandbox: The id of the sandbox the tools work in.
        host: The address to listen on.
        port: The TCP port.
        options: The tools to offer, and limits.
    """
    config = uvicorn.Config(
        make_app(dial, sandbox, host, options), host=host, port=port, log_level="warning", lifespan="on"
    )
    server = _Server(config)
    async with asyncio.TaskGroup() as tasks:
        serving = tasks.create_task(server.serve())
        try:
            await asyncio.shield(serving)
        except asyncio.CancelledError:
            server.should_exit = True
            await serving
            raise


def make_app(dial: Callable[[str], Client], sandbox: str, host: str, options: ServerOptions) -> Starlette:
    """Return an application that serves MCP at `/mcp`.

    Args:
        dial: Returns an unconnected client for a token.
        sandbox: The id of the sandbox the tools work in.
        host: The address to listen on. If it is a loopback address, only this machine's names are accepted as `Host`.
        options: The tools to offer, and limits.
    """
    clients = Clients(dial)

    def find_sandbox(context: Context) -> Sandbox:
        assert context.request is not None  # set because all requests arrive over HTTP
        client: Client = context.request.scope["state"][STATE]
        return client.sandbox(sandbox)

    server: Server[dict[str, Any]] = make_server(find_sandbox, options)
    app = server.streamable_http_app(streamable_http_path=PATH, host=host)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(application: Starlette) -> AsyncIterator[Any]:
        async with inner(application) as state:
            try:
                yield state
            finally:
                await clients.close()

    app.router.lifespan_context = lifespan
    app.user_middleware.insert(0, Middleware(Authenticate, clients=clients))
    return app


def _user(client: Client) -> AuthenticatedUser:
    """Return a connected client's identity, for the library to compare."""
    welcome = client.welcome
    assert welcome is not None  # set because the client is connected
    return AuthenticatedUser(AccessToken(token="", client_id=welcome.identity, scopes=[]))


def _bearer(scope: Scope) -> str | None:
    """Return a request's bearer token, if any."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.decode("latin-1").partition(" ")
            return token.strip() or None if scheme.lower() == "bearer" else None
    return None


def _refused(message: str) -> Response:
    return JSONResponse(
        {"error": f"unauthenticated: {message}"}, status_code=401, headers={"www-authenticate": 'Bearer realm="hawse"'}
    )
