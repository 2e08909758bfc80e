"""`GET /v1/sandboxes/{sandbox}/recordings/{id}.cast`: streams a recording as a file."""

import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, Final, NamedTuple

from starlette.requests import Request as HttpRequest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from hawse.wire import Principal
from hawse_gateway.upstream.call import UpstreamCall
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink

MEDIA_TYPE: Final = "application/x-asciicast"
PATH: Final = "/v1/sandboxes/{sandbox}/recordings/{name}.cast"
ANSWER_TIME: Final = 15.0  # seconds to wait for the sandbox to describe the recording
_RANGE = re.compile(r"bytes=([0-9]{0,19})-([0-9]{0,19})")


class ByteRange(NamedTuple):
    """A byte range of a recording."""

    start: int
    stop: int
    size: int  # size of the whole recording in bytes
    asked: bool  # whether the request had a `Range` header

    @property
    def headers(self) -> dict[str, str]:
        headers = {"accept-ranges": "bytes", "content-length": str(self.stop - self.start), "cache-control": "no-store"}
        if self.asked:
            headers["content-range"] = f"bytes {self.start}-{self.stop - 1}/{self.size}"
        return headers


def part_of(size: int, header: str | None) -> ByteRange | None:
    """Return the range requested by a `Range` header (RFC 9110, section 14.2), or None if it starts after the end.

    Args:
        size: The size of the whole content, in bytes.
        header: The `Range` header value. None, or any value other than a single byte range, requests the whole content.
    """
    found = _RANGE.fullmatch(header.strip()) if header else None
    if found is None or found[0] == "bytes=-":
        return ByteRange(0, size, size, False)
    first, last = found.groups()
    if not first:
        return ByteRange(max(size - int(last), 0), size, size, True) if int(last) and size else None
    start, stop = int(first), min(int(last) + 1, size) if last else size
    if last and int(last) < start:
        return ByteRange(0, size, size, False)  # an invalid range is ignored
    return ByteRange(start, stop, size, True) if start < size else None


class Download(StreamingResponse):
    """A response that streams a recording. It closes `exits`, which ends the call, after the last byte or when the
    client disconnects."""

    def __init__(self, request: UpstreamCall, exits: AsyncExitStack, part: ByteRange, headers: dict[str, str]) -> None:
        self._request = request
        self._exits = exits
        super().__init__(self._body(), 206 if part.asked else 200, headers | part.headers, media_type=MEDIA_TYPE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._exits:
            await super().__call__(scope, receive, send)

    async def _body(self) -> AsyncIterator[bytes]:
        # An error after the first byte aborts the response. Clients notice this because the body is shorter than
        # content-length.
        async for data in self._request.data():
            yield data


class RecordingDownloads:
    """The handler for recording downloads."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def read(self, http: HttpRequest, principal: Principal, _: Send) -> Response:
        """Return the recording or a range of it."""
        link = self._links.get(http.path_params["sandbox"])
        async with AsyncExitStack() as exits:
            return await self._answer(http, link, http.path_params["name"], principal, exits)

    async def _answer(
        self, http: HttpRequest, link: SandboxLink, name: str, principal: Principal, exits: AsyncExitStack
    ) -> Response:
        async with UpstreamCall(
            link, "recording.get", {"id": name}, principal=principal, timeout=ANSWER_TIME
        ) as request:
            info: dict[str, Any] = await request.result()
        size = info["size"]
        part = part_of(size, http.headers.get("range"))
        if part is None:
            return Response(status_code=416, headers={"content-range": f"bytes */{size}"})
        headers = {"content-disposition": f'attachment; filename="{info["id"]}.cast"'}
        if http.method == "HEAD":
            return Response(None, 206 if part.asked else 200, headers | part.headers, media_type=MEDIA_TYPE)
        params = {"id": name, "offset": part.start, "length": part.stop - part.start}
        reading = await exits.enter_async_context(UpstreamCall(link, "recording.read", params, principal=principal))
        await reading.begun()  # before the first byte, an error can still set the response's status
        return Download(reading, exits.pop_all(), part, headers)
