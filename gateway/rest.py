"""The HTTP door: every method as `POST /v1/sandboxes/{sandbox}/{method}` (docs/wire.md section 11).

The answer is the result as JSON, or for whom accepts it the channel as server-sent events. What the body of a request
may be, and how an answer ends when its reader has gone, is here; the methods and their types are those of `hawse.api`.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any, Final, TypeVar, cast

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from gateway.answers import error_response, json_response
from gateway.doors import Doors
from gateway.gather import gather
from gateway.links import Links
from gateway.request import Piece, Request
from gateway.rights import check
from gateway.sse import HEARTBEAT, MEDIA_TYPE, Encoder, since
from hawse.api import METHODS, Spec
from hawse.wire import HawseError

log = logging.getLogger(__name__)

PATH: Final = "/v1/sandboxes/{sandbox}/{method}"
GATEWAY_PATH: Final = "/v1/{method}"
BODY_LIMIT: Final = 1 << 20  # bytes of parameters: as much as a control message may have
HEARTBEAT_SECONDS: Final = 15.0  # of silence on a stream of events, before a comment says that it is still there
BYTES: Final = "application/octet-stream"
KEY_LIMIT: Final = 128  # characters
PATIENT: Final = "hawse.patient"  # the server's: this answer may take as long as both sides want

Handler = Callable[[HttpRequest, str, Send], Awaitable[Response | None]]


T = TypeVar("T")


class GoneError(Exception):
    """The client is not there any more."""


class Endpoint:
    """An ASGI application around a handler: who may come in, what goes wrong, and what if the client goes away.

    The handler gets the request, the caller's role, and `send`. It returns an answer, or None if it has sent one.
    """

    def __init__(self, doors: Doors, handle: Handler) -> None:
        self._doors = doors
        self._handle = handle

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = False

        async def send_on(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            role = self._doors.admit(scope["headers"], scope["scheme"])
            response = await self._handle(HttpRequest(scope, receive), role, send_on)
        except HawseError as error:
            response = error_response(error)
        except GoneError:
            return
        except Exception:  # a bug here: the log tells, the client is not told
            log.exception("! %s %s", scope["method"], scope["path"])
            if begun:
                raise  # an answer that is cut short is no answer
            response = error_response(HawseError("internal", "a bug in the gateway", admitted="unknown"))
        if response is not None:
            await response(scope, receive, send)


class Rest:
    """The handlers. `methods` are the gateway's own, `links` are there while the application runs."""

    def __init__(self, methods: dict[str, Callable[[], Any]], links: Callable[[], Links]) -> None:
        self._methods = methods
        self._links = links

    async def ask_gateway(self, http: HttpRequest, role: str, _: Send) -> Response:
        method = http.path_params["method"]
        if method not in self._methods:
            raise HawseError("unknown_method", f"{method[:128]!r}, without a sandbox")
        check(role, method)
        await _params(http)
        return json_response(self._methods[method]())

    async def call(self, http: HttpRequest, role: str, send: Send) -> Response | None:
        method = http.path_params["method"]
        link = self._links().get(http.path_params["sandbox"])
        spec = METHODS.get(method)
        if spec is None:
            raise HawseError("unknown_method", f"{method[:128]!r}")
        streamed = _accepts_events(http)
        feeds = _content_type(http) == BYTES
        params = await self._parameters(http, spec, feeds=feeds)
        key, timeout = _key(http), _timeout(http)
        async with Request(link, method, params, role=role, key=key, timeout=timeout) as request:
            fed = request if feeds else None
            if not streamed:
                return json_response(await while_there(http, gather(request, spec), fed))
            await while_there(http, events(send, request, spec), fed)
            return None

    async def _parameters(self, http: HttpRequest, spec: Spec, *, feeds: bool) -> dict[str, Any]:
        if not feeds:
            params = await _params(http)
        elif spec.input:
            params = _object(http.query_params.get("params", "").encode() or b"{}")
            params.setdefault("input", "body")
            if "stdin" in spec.params.__struct_fields__:
                params.setdefault("stdin", True)
        else:
            raise HawseError("invalid_params", "this method takes no bytes: send its parameters as JSON")
        last = http.headers.get("last-event-id")
        return params | {"since": since(spec, last)} if last else params


# ---- what comes in


def _content_type(http: HttpRequest) -> str:
    return http.headers.get("content-type", "").partition(";")[0].strip().lower()


def _accepts_events(http: HttpRequest) -> bool:
    return any(part.partition(";")[0].strip() == MEDIA_TYPE for part in http.headers.get("accept", "").split(","))


async def _params(http: HttpRequest) -> dict[str, Any]:
    """The JSON object in the body; without a body an empty one. Raises `invalid_params`, `too_large`."""
    body = await _body(http)
    if not body:
        return {}
    if _content_type(http) != "application/json":
        raise HawseError("invalid_params", "send parameters as `content-type: application/json`")
    return _object(body)


async def _body(http: HttpRequest) -> bytes:
    body = bytearray()
    async for part in _parts(http):
        body += part
        if len(body) > BODY_LIMIT:
            raise HawseError("too_large", f"a body of more than {BODY_LIMIT} bytes")
    return bytes(body)


def _object(data: bytes) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise HawseError("invalid_params", f"not a JSON object: {error}", details={"path": "$"}) from None
    return found


def _key(http: HttpRequest) -> str | None:
    key = http.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= KEY_LIMIT:
        raise HawseError("invalid_params", f"an `Idempotency-Key` has 1 to {KEY_LIMIT} characters")
    return key


def _timeout(http: HttpRequest) -> float | None:
    text = http.query_params.get("timeout")
    if text is None:
        return None
    try:
        timeout = float(text)
    except ValueError:
        timeout = math.nan
    if not 0 < timeout <= 1e9:
        raise HawseError("invalid_params", "`timeout` is a number of seconds", details={"path": "timeout"})
    return timeout


async def _parts(http: HttpRequest) -> AsyncIterator[bytes]:
    """The body as it comes. Raises `GoneError`."""
    while True:
        message = await http.receive()
        if message["type"] == "http.disconnect":
            raise GoneError
        if message.get("body"):
            yield message["body"]
        if not message.get("more_body"):
            return


async def feed(http: HttpRequest, request: Request) -> None:
    """The body becomes the input of the call, as fast as the sandbox takes it. A call that is over wants no more."""
    async for part in _parts(http):
        if not await request.send(part):
            return
    request.end()


# ---- what goes out


async def while_there(http: HttpRequest, work: Coroutine[Any, Any, T], fed: Request | None = None) -> T:
    """The value of `work`, unless the client goes away: then it is cancelled. What is `fed` gets the request's body.

    Raises `HawseError` as `work` does, and `GoneError`.
    """
    value: T | None = None
    failure: HawseError | None = None

    async def watch() -> None:
        with suppress(GoneError):
            if fed is not None:
                await feed(http, fed)
            patience(http.scope)
            while (await http.receive())["type"] != "http.disconnect":
                pass
        until_gone.reschedule(0)

    async with asyncio.TaskGroup() as tasks:
        try:
            async with asyncio.timeout(None) as until_gone:
                watching = tasks.create_task(watch(), name="is it still there?")
                value = await work
        except HawseError as error:
            failure = error
        except TimeoutError:
            pass
        finally:
            watching.cancel()
    if until_gone.expired():
        raise GoneError
    if failure is not None:
        raise failure
    return cast(T, value)


async def events(send: Send, request: Request, spec: Spec) -> None:
    """Send the channel as it comes. Nothing is taken from it before what came has been sent."""
    encoder = Encoder(spec)
    first = await _next(request)  # an error that comes at once has its status
    headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-store")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    item: Any = first
    try:
        while item is not None:
            await _send(send, HEARTBEAT if item is _SILENCE else _encode(encoder, item))
            item = await _next(request)
        last = encoder.result(await request.result())
    except HawseError as error:
        last = encoder.error(error)
    await _send(send, last, more=False)


_SILENCE: Final = object()


async def _next(request: Request) -> Any:
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            return await request.next()
    except TimeoutError:
        return _SILENCE


def _encode(encoder: Encoder, item: Any) -> bytes:
    return encoder.piece(item) if isinstance(item, Piece) else encoder.event(item)


async def _send(send: Send, data: bytes, *, more: bool = True) -> None:
    if data or not more:
        await send({"type": "http.response.body", "body": data, "more_body": more})


def patience(scope: Scope) -> None:
    """Ask the server to let this answer take its time: what is waited for may come in hours."""
    extension = scope.get("extensions", {}).get(PATIENT)
    if extension is not None:
        extension["begin"]()
