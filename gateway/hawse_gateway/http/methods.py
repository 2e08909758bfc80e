"""The HTTP API: each method is available as `POST /v1/sandboxes/{sandbox}/{method}` (docs/wire.md section 11).

The response is the result as JSON, or a stream of server-sent events if the client accepts them. The gateway's own
methods are at `/v1/{method}`. `hawse.api` defines the methods and their types.
"""

import asyncio
import math
from typing import Any, Final

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Send

from hawse.api import METHODS, Spec
from hawse.wire import HawseError, Principal
from hawse_gateway.http import openapi
from hawse_gateway.http.collect import collect
from hawse_gateway.http.endpoint import Handler, HttpEndpoint, RequestAdmission, parts, unless_disconnected
from hawse_gateway.http.files import FILES_PATH, FileEndpoint, idempotency_key
from hawse_gateway.http.responses import json_response
from hawse_gateway.http.sse import HEARTBEAT, MEDIA_TYPE, SseEncoder, since
from hawse_gateway.upstream.call import UpstreamCall, UpstreamItem
from hawse_gateway.upstream.links import Links

PATH: Final = "/v1/sandboxes/{sandbox}/{method}"
GATEWAY_PATH: Final = "/v1/{method}"
BODY_LIMIT: Final = 1 << 20  # maximum size of the parameters in bytes, as in a control message
HEARTBEAT_SECONDS: Final = 15.0  # seconds without an event before a comment is sent
BYTES: Final = "application/octet-stream"


def routes(admission: RequestAdmission, links: Links) -> list[Route]:
    """Return the routes for the HTTP API.

    Args:
        admission: The checks and limits for every request.
        links: The links to the sandboxes, which handle the calls.
    """
    rest, files = MethodEndpoint(links), FileEndpoint(links)

    def endpoint(handle: Handler) -> HttpEndpoint:
        return HttpEndpoint(admission, handle)

    return [
        Route("/v1/openapi.json", endpoint(_describe), methods=["GET"]),
        Route(FILES_PATH, endpoint(files.read), methods=["GET", "HEAD"]),
        Route(FILES_PATH, endpoint(files.write), methods=["PUT"]),
        Route(FILES_PATH, endpoint(files.delete), methods=["DELETE"]),
        Route(PATH, endpoint(rest.call), methods=["POST"]),
        Route(GATEWAY_PATH, endpoint(rest.call), methods=["POST"]),
        Route("/v1/{rest:path}", endpoint(_nowhere)),
    ]


async def _nowhere(http: HttpRequest, principal: Principal, send: Send) -> Response:
    raise HawseError("not_found", f"{http.scope['path'][:200]} not found; call methods with POST")


async def _describe(http: HttpRequest, principal: Principal, send: Send) -> Response:
    return json_response(openapi.document())


class MethodEndpoint:
    """The handler for all methods."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def call(self, http: HttpRequest, principal: Principal, send: Send) -> Response | None:
        """Forward the call to the sandbox in the path. Without a sandbox, call one of the gateway's own methods."""
        method, sandbox = http.path_params["method"], http.path_params.get("sandbox")
        link = self._links.get(sandbox)
        specs = METHODS if sandbox is not None else self._links.dispatcher.methods
        spec = specs.get(method)
        if spec is None:
            where = "of a sandbox" if sandbox is not None else "of the gateway"
            raise HawseError("unknown_method", f"{method[:128]!r} is not a method {where}")
        streamed = _accepts_events(http)
        feeds = _content_type(http) == BYTES
        params = await self._parameters(http, spec, feeds=feeds)
        key, timeout = idempotency_key(http), _timeout(http)
        async with UpstreamCall(link, method, params, principal=principal, key=key, timeout=timeout) as request:
            fed = request if feeds else None
            if not streamed:
                return json_response(await unless_disconnected(http, collect(request, spec), body_to=fed))
            await unless_disconnected(http, events(send, request, spec), body_to=fed)
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
            raise HawseError("invalid_params", "this method has no input: send its parameters as application/json")
        last = http.headers.get("last-event-id")
        return params | {"since": since(spec, last)} if last else params


# ---- the request


def _content_type(http: HttpRequest) -> str:
    return http.headers.get("content-type", "").partition(";")[0].strip().lower()


def _accepts_events(http: HttpRequest) -> bool:
    return any(part.partition(";")[0].strip() == MEDIA_TYPE for part in http.headers.get("accept", "").split(","))


async def _params(http: HttpRequest) -> dict[str, Any]:
    """Return the JSON object in the body, by default `{}`. Raises `HawseError` (`invalid_params`, `too_large`)."""
    body = await _body(http)
    if not body:
        return {}
    if _content_type(http) != "application/json":
        raise HawseError("invalid_params", "parameters must be sent as application/json")
    return _object(body)


async def _body(http: HttpRequest) -> bytes:
    body = bytearray()
    async for part in parts(http):
        body += part
        if len(body) > BODY_LIMIT:
            raise HawseError("too_large", f"the body exceeds {BODY_LIMIT} bytes")
    return bytes(body)


def _object(data: bytes) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.json.decode(data, type=dict[str, Any])
    except (ValueError, RecursionError) as error:
        raise HawseError("invalid_params", f"not a JSON object: {error}", details={"path": "$"}) from None
    return found


def _timeout(http: HttpRequest) -> float | None:
    text = http.query_params.get("timeout")
    if text is None:
        return None
    try:
        timeout = float(text)
    except ValueError:
        timeout = math.nan
    if not 0 < timeout <= 1e9:
        raise HawseError(
            "invalid_params",
            f"`timeout` must be a number of seconds above 0, not {text[:20]!r}",
            details={"path": "timeout"},
        )
    return timeout


# ---- the response


async def events(send: Send, request: UpstreamCall, spec: Spec) -> None:
    """Send the channel's output as server-sent events. Each item is sent before the next is read."""
    encoder = SseEncoder(spec)
    first = await _next(request)  # before the first item, an error can still set the response's status
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


async def _next(request: UpstreamCall) -> Any:
    try:
        async with asyncio.timeout(HEARTBEAT_SECONDS):
            return await request.next()
    except TimeoutError:
        return _SILENCE


def _encode(encoder: SseEncoder, item: Any) -> bytes:
    return encoder.piece(item) if isinstance(item, UpstreamItem) else encoder.event(item)


async def _send(send: Send, data: bytes, *, more: bool = True) -> None:
    if data or not more:
        await send({"type": "http.response.body", "body": data, "more_body": more})
