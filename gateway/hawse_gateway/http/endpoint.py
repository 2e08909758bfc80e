"""Authentication, error responses and handling of disconnected clients for all HTTP endpoints."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, NamedTuple, TypeVar, cast

from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from hawse.rpc.shares import Shares
from hawse.wire import HawseError, Principal
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.open_connections import OpenConnections, ended
from hawse_gateway.http.responses import error_response
from hawse_gateway.limits.byte_rates import ByteRates, paced
from hawse_gateway.upstream.call import UpstreamCall

log = logging.getLogger(__name__)

REQUESTS: Final = 512  # maximum number of concurrent authenticated requests; each holds a socket, possibly for hours
UNLIMITED_DURATION: Final = "hawse.unlimited_duration"  # the server extension that removes a response's time limit

Handler = Callable[[HttpRequest, Principal, Send], Awaitable[Response | None]]
T = TypeVar("T")


class ClientDisconnectedError(Exception):
    """The client has disconnected."""


class IncompleteResponseError(Exception):
    """A response was started but can't be completed. The server closes the connection to let the client know."""


class RequestAdmission(NamedTuple):
    """The checks and limits for every request.

    Attributes:
        access_policy: Authenticates callers.
        requests: Counts open requests.
        connections: Ends requests if the caller's credential is revoked or expires.
        byte_rates: Slows down callers that exceed their byte rate.
    """

    access_policy: AccessPolicy
    requests: Shares
    connections: OpenConnections
    byte_rates: ByteRates = ByteRates()


class HttpEndpoint:
    """An ASGI application around a handler: authenticates the caller and turns exceptions into responses.

    The handler gets the request, the caller's principal, and `send`. The handler returns a response, or None if it has
    already sent one.
    """

    def __init__(self, admission: RequestAdmission, handle: Handler, *, ticket: bool = False) -> None:
        """Create an endpoint.

        Args:
            admission: The checks and limits for every request.
            handle: The handler.
            ticket: Whether to accept a ticket in the URL query instead of a token.
        """
        self._admission = admission
        self._handle = handle
        self._ticket = ticket

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._serve(scope, receive, send_on)
            return
        except HawseError as error:
            if begun:
                raise IncompleteResponseError(str(error)) from error
            response = error_response(error)
        except ClientDisconnectedError:
            return
        except Exception:  # a bug in the gateway, so the client gets no details
            log.exception("! %s %s", scope["method"], scope["path"])
            if begun:
                raise  # the server aborts the response, so that the client doesn't mistake it for a complete one
            response = error_response(HawseError("internal", "a bug in the gateway", admitted="unknown"))
        await response(scope, receive, send)

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request and send the response. Raises `HawseError`, for example if the credential expires."""
        access_policy, requests, connections, byte_rates = self._admission
        identity = access_policy.admit(scope, ticket=self._ticket)
        address = address_of(scope)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(None) as until_ended:
                with (
                    requests.hold(identity.principal),
                    connections.hold(identity, address, lambda: until_ended.reschedule(loop.time())),
                    paced(byte_rates.pace(identity.principal, address)),
                ):
                    response = await self._handle(HttpRequest(scope, receive), identity.principal, send)
                    if response is not None:
                        await response(scope, receive, send)
        except TimeoutError:
            if not until_ended.expired():
                raise
            raise ended() from None


async def parts(http: HttpRequest) -> AsyncIterator[bytes]:
    """Yield chunks of the body as they arrive. Raises `ClientDisconnectedError`."""
    while True:
        message = await http.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnectedError
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return


async def feed(http: HttpRequest, request: UpstreamCall) -> None:
    """Send the body as the call's input, as fast as the sandbox reads it, until the call ends."""
    async for part in parts(http):
        if not await request.send(part):
            return
        await request.keep_pace()
    request.end()


async def unless_disconnected(
    http: HttpRequest, work: Coroutine[Any, Any, T], *, body_to: UpstreamCall | None = None
) -> T:
    """Run `work` and return its value. Cancel `work` if the client disconnects.

    Args:
        http: The request.
        work: The coroutine that produces the response.
        body_to: The call that receives the request's body as its input while `work` runs.

    Raises:
        HawseError: Raised by `work`.
        ClientDisconnectedError: The client has disconnected.
    """
    value: T | None = None
    failure: HawseError | None = None

    async def watch() -> None:
        with suppress(ClientDisconnectedError):
            if body_to is not None:
                await feed(http, body_to)
            allow_unlimited_duration(http.scope)
            while (await http.receive())["type"] != "http.disconnect":
                pass
        until_gone.reschedule(0)

    async with asyncio.TaskGroup() as tasks:
        try:
            async with asyncio.timeout(None) as until_gone:
                watching = tasks.create_task(watch(), name="watch for disconnect")
                value = await work
        except HawseError as error:
            failure = error
        except TimeoutError:
            pass
        finally:
            watching.cancel()
    if until_gone.expired():
        raise ClientDisconnectedError
    if failure is not None:
        raise failure
    return cast(T, value)


def address_of(scope: Scope) -> str:
    """Return the client's address for a request, in the form `HOST:PORT`."""
    client = scope.get("client")
    return f"{client[0]}:{client[1]}" if client else "?"


def allow_unlimited_duration(scope: Scope) -> None:
    """Remove the time limit for a response that can take hours."""
    extension = scope.get("extensions", {}).get(UNLIMITED_DURATION)
    if extension is not None:
        extension["begin"]()
