"""Files over HTTP: `GET`, `HEAD`, `PUT` and `DELETE /v1/sandboxes/{sandbox}/files/{path}`, as raw bytes of any size.

File content is streamed in both directions, using the call's flow control, and never buffered as a whole.
"""

import os
import re
import secrets
from email.utils import formatdate
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Send

from hawse.api.files import FileOpened, FileStatResult
from hawse.api.paths import to_text
from hawse.wire import Event, HawseError, Principal
from hawse_gateway.http.endpoint import unless_disconnected
from hawse_gateway.http.recordings import ByteRange, part_of
from hawse_gateway.http.responses import json_response
from hawse_gateway.upstream.call import UpstreamCall, UpstreamItem
from hawse_gateway.upstream.links import Links
from hawse_gateway.upstream.sandbox_link import SandboxLink

FILES_PATH: Final = "/v1/sandboxes/{sandbox}/files/{path:path}"
KEY_LIMIT: Final = 128  # characters
_TAG = re.compile(r'"[^",]*"')
_RAW = re.compile(rb"/v1/sandboxes/[^/]+/files/(.*)", re.DOTALL)


class FileEndpoint:
    """Handlers for the file routes."""

    def __init__(self, links: Links) -> None:
        self._links = links

    async def write(self, http: HttpRequest, principal: Principal, _: Send) -> Response:
        """Once the whole body has been received, atomically replace the file with the body."""
        path = _path(http)
        link = self._links.get(http.path_params["sandbox"])
        params = {"path": path, "input": secrets.token_hex(8), "mode": _mode(http)}
        params["if_version"] = _required_version(http)
        if "parents" in http.query_params:
            params["parents"] = http.query_params["parents"] != "false"
        async with UpstreamCall(link, "file.write", params, principal=principal, key=idempotency_key(http)) as request:
            return json_response(await unless_disconnected(http, request.result(), body_to=request))

    async def delete(self, http: HttpRequest, principal: Principal, _: Send) -> Response:
        """Delete the file or directory. To delete a directory that isn't empty, `recursive=true` is required."""
        params = {"path": _path(http), "recursive": http.query_params.get("recursive") == "true"}
        if "if-match" in http.headers or "if-none-match" in http.headers:
            raise HawseError("invalid_params", "DELETE does not support If-Match or If-None-Match")
        link = self._links.get(http.path_params["sandbox"])
        async with UpstreamCall(link, "file.delete", params, principal=principal, key=idempotency_key(http)) as request:
            return json_response(await unless_disconnected(http, request.result(), body_to=request))

    async def read(self, http: HttpRequest, principal: Principal, send: Send) -> Response | None:
        """Send the file or a range of it. The response is aborted if the file's size changes during the transfer."""
        path = _path(http)
        link = self._links.get(http.path_params["sandbox"])
        wanted = http.headers.get("range")
        if http.method != "HEAD" and wanted is None:
            await unless_disconnected(http, self._send_all(link, path, principal, send))
            return None
        stat = await unless_disconnected(http, self._stat(link, path, principal))
        if http.headers.get("if-range", _tag(stat.version)) != _tag(stat.version):
            wanted = None
        part = part_of(stat.size, wanted)
        if part is None:
            return Response(status_code=416, headers={"content-range": f"bytes */{stat.size}"})
        headers = _headers(path, stat.version, stat.mtime) | part.headers
        if http.method == "HEAD":
            return Response(None, 206 if part.asked else 200, headers, media_type=None)
        await unless_disconnected(http, self._send_part(link, path, principal, send, part, stat.version, headers))
        return None

    async def _stat(self, link: SandboxLink, path: str, principal: Principal) -> FileStatResult:
        async with UpstreamCall(link, "file.stat", {"path": path}, principal=principal) as request:
            stat = msgspec.convert(await request.result(), FileStatResult)
        if stat.type == "directory":
            raise HawseError("is_directory", path)
        return stat

    async def _send_all(self, link: SandboxLink, path: str, principal: Principal, send: Send) -> None:
        async with UpstreamCall(link, "file.read", {"path": path}, principal=principal) as request:
            opened = await _opened(request)
            headers = _headers(path, opened.version, opened.mtime)
            if opened.size:  # files in /proc report a size of 0 but have content
                headers["content-length"] = str(opened.size)
            await _send(request, send, 200, headers)

    async def _send_part(
        self,
        link: SandboxLink,
        path: str,
        principal: Principal,
        send: Send,
        part: ByteRange,
        version: str | None,
        headers: Any,
    ) -> None:
        params = {"path": path, "offset": part.start, "length": part.stop - part.start, "version": version}
        async with UpstreamCall(link, "file.read", params, principal=principal) as request:
            await _opened(request)
            await _send(request, send, 206 if part.asked else 200, headers)


async def _opened(request: UpstreamCall) -> FileOpened:
    item = await request.next()
    if not isinstance(item, Event) or item.name != "opened":
        raise HawseError("internal", "the runtime sent no `opened` event")
    return msgspec.json.decode(item.value, type=FileOpened)


async def _send(request: UpstreamCall, send: Send, status: int, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    while (item := await request.next()) is not None:
        if isinstance(item, UpstreamItem):
            await send({"type": "http.response.body", "body": item.payload, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def idempotency_key(http: HttpRequest) -> str | None:
    """Return a request's `Idempotency-Key`, or None. Raises `HawseError` (`invalid_params`)."""
    key = http.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= KEY_LIMIT:
        raise HawseError("invalid_params", f"an `Idempotency-Key` must have 1 to {KEY_LIMIT} characters")
    return key


def _path(http: HttpRequest) -> str:
    """Return the path after `/files/`. It is resolved against the workspace unless it starts with a second slash."""
    found = _RAW.fullmatch(http.scope["raw_path"])
    if found is None:  # percent-encoding, such as %2F, is only allowed in the file's path
        raise HawseError("not_found", f"{http.scope['path'][:200]} not found")
    path = unquote_to_bytes(found[1])
    if not path or b"\0" in path:
        raise HawseError("invalid_params", "the path is empty or contains NUL", details={"path": "path"})
    return to_text(os.fsdecode(path))


def _mode(http: HttpRequest) -> int | None:
    text = http.query_params.get("mode")
    if text is None:
        return None
    try:
        return int(text, 8)
    except ValueError:
        message = f"`mode` must be octal, such as 755, not {text[:20]!r}"
        raise HawseError("invalid_params", message, details={"path": "mode"}) from None


def _required_version(http: HttpRequest) -> str | None:
    """Return the version that the file must have (RFC 9110, section 13.1). "" means that it must not exist, and None
    allows any version."""
    absent, tag = http.headers.get("if-none-match"), http.headers.get("if-match")
    if absent == "*" and tag is None:
        return ""
    if absent is not None or (tag is not None and not _TAG.fullmatch(tag)):
        raise HawseError("invalid_params", 'use If-Match with one ETag, or "If-None-Match: *"')
    return None if tag is None else tag[1:-1]


def _tag(version: str | None) -> str:
    return f'"{version}"'


def _headers(path: str, version: str | None, mtime: float) -> dict[str, str]:
    """Return headers that make browsers save the file, because pages from a sandbox must not run in the gateway's
    origin."""
    name = quote(path.rpartition("/")[2].replace("\0", ""))
    return {
        "content-type": "application/octet-stream",
        "content-disposition": f"attachment; filename*=utf-8''{name}",
        "etag": _tag(version),
        "last-modified": formatdate(mtime, usegmt=True),
        "accept-ranges": "bytes",
        "cache-control": "no-store",
    }
