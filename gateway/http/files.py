"""Files over HTTP: `GET`, `HEAD` and `PUT /v1/sandboxes/{sandbox}/files/{path}`, as bytes of any size.

Both ways go through the credit of one call: nothing is collected here.
"""

import os
import re
import secrets
from collections.abc import Callable
from email.utils import formatdate
from typing import Any, Final
from urllib.parse import quote, unquote_to_bytes

import msgspec
from starlette.requests import Request as HttpRequest
from starlette.responses import Response
from starlette.types import Send

from gateway.http.endpoint import while_there
from gateway.http.recordings import ByteRange, part_of
from gateway.http.responses import json_response
from gateway.http.upstream_call import UpstreamCall, UpstreamItem
from gateway.upstream.links import Links, SandboxLink
from hawse.api.files import FileOpened, FileStatResult
from hawse.api.paths import to_text
from hawse.wire import Event, HawseError, Principal

FILES_PATH: Final = "/v1/sandboxes/{sandbox}/files/{path:path}"
KEY_LIMIT: Final = 128  # characters
_RAW = re.compile(rb"/v1/sandboxes/[^/]+/files/(.*)", re.DOTALL)


class FileEndpoint:
    """The handlers. `links` are there while the application runs."""

    def __init__(self, links: Callable[[], Links]) -> None:
        self._links = links

    async def write(self, http: HttpRequest, principal: Principal, _: Send) -> Response:
        """The body becomes the file, at once and as a whole when all of it has come."""
        path = _path(http)
        link = self._links().get(http.path_params["sandbox"])
        params = {"path": path, "input": secrets.token_hex(8), "mode": _mode(http)}
        if "parents" in http.query_params:
            params["parents"] = http.query_params["parents"] != "false"
        async with UpstreamCall(link, "file.write", params, principal=principal, key=idempotency_key(http)) as request:
            return json_response(await while_there(http, request.result(), request))

    async def read(self, http: HttpRequest, principal: Principal, send: Send) -> Response | None:
        """The file or a part of it. What is longer or shorter than it was when it was opened is cut short."""
        path = _path(http)
        link = self._links().get(http.path_params["sandbox"])
        wanted = http.headers.get("range")
        if http.method != "HEAD" and wanted is None:
            await while_there(http, self._send_all(link, path, principal, send))
            return None
        stat = await while_there(http, self._stat(link, path, principal))
        if http.headers.get("if-range", _tag(stat.version)) != _tag(stat.version):
            wanted = None
        part = part_of(stat.size, wanted)
        if part is None:
            return Response(status_code=416, headers={"content-range": f"bytes */{stat.size}"})
        headers = _headers(path, stat.version, stat.mtime) | part.headers
        if http.method == "HEAD":
            return Response(None, 206 if part.asked else 200, headers, media_type=None)
        await while_there(http, self._send_part(link, path, principal, send, part, stat.version, headers))
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
            if opened.size:  # what is in /proc has none, and bytes all the same
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
        raise HawseError("internal", "a file without `opened`")
    return msgspec.json.decode(item.value, type=FileOpened)


async def _send(request: UpstreamCall, send: Send, status: int, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})
    while (item := await request.next()) is not None:
        if isinstance(item, UpstreamItem):
            await send({"type": "http.response.body", "body": item.payload, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})


def idempotency_key(http: HttpRequest) -> str | None:
    """The `key` of the call. Raises `invalid_params`."""
    key = http.headers.get("idempotency-key")
    if key is not None and not 1 <= len(key) <= KEY_LIMIT:
        raise HawseError("invalid_params", f"an `Idempotency-Key` has 1 to {KEY_LIMIT} characters")
    return key


def _path(http: HttpRequest) -> str:
    """What stands behind `/files/`, byte for byte: relative to the workspace, or absolute with a second slash."""
    found = _RAW.fullmatch(http.scope["raw_path"])
    if found is None:  # what stands before it is not written as we write it: %2F for a slash
        raise HawseError("not_found", "nothing is here")
    path = unquote_to_bytes(found[1])
    if not path or b"\0" in path:
        raise HawseError("invalid_params", "not a path", details={"path": "path"})
    return to_text(os.fsdecode(path))


def _mode(http: HttpRequest) -> int | None:
    text = http.query_params.get("mode")
    try:
        return None if text is None else int(text, 8)
    except ValueError:
        raise HawseError("invalid_params", "`mode` is octal, such as 755", details={"path": "mode"}) from None


def _tag(version: str | None) -> str:
    return f'"{version}"'


def _headers(path: str, version: str | None, mtime: float) -> dict[str, str]:
    """No page of a sandbox is shown as one of ours: it is saved, whatever its name is."""
    name = quote(path.rpartition("/")[2].replace("\0", ""))
    return {
        "content-type": "application/octet-stream",
        "content-disposition": f"attachment; filename*=utf-8''{name}",
        "etag": _tag(version),
        "last-modified": formatdate(mtime, usegmt=True),
        "accept-ranges": "bytes",
        "cache-control": "no-store",
    }
