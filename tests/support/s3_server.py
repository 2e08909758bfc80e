"""A small in-process S3 server: objects and multipart uploads of one bucket, and failures on request."""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from hawse_gateway.transport.listener import listen

BUCKET = "bucket"
_KEY = re.compile(r"<Key>(.*?)</Key>")


class S3Server:
    """The server. `fails` contains the names of operations that fail with `status`."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.uploads: dict[str, dict[int, bytes]] = {}
        self.parts = 0  # the number of received parts
        self.aborted = 0
        self.fails: set[str] = set()
        self.status = 403
        self.url = ""
        self._next = 0

    @property
    def environment(self) -> dict[str, str]:
        return {"AWS_ENDPOINT_URL": self.url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}

    async def serve(self, request: Request) -> Response:
        query = parse_qs(request.url.query, keep_blank_values=True)
        bucket, _, key = request.path_params["path"].partition("/")
        if bucket != BUCKET or "authorization" not in request.headers:
            return _error(404 if bucket != BUCKET else 403, "NoSuchBucket")
        operation = self._operation(request.method, query)
        if operation in self.fails:
            return _error(self.status, "Failed")
        body = await request.body()
        match operation:
            case "begin":
                self._next += 1
                self.uploads[str(self._next)] = {}
                return _xml(
                    f"<InitiateMultipartUploadResult><UploadId>{self._next}</UploadId></InitiateMultipartUploadResult>"
                )
            case "part":
                self.parts += 1
                self.uploads[query["uploadId"][0]][int(query["partNumber"][0])] = body
                return Response(headers={"etag": f'"{hashlib.md5(body).hexdigest()}"'})
            case "complete":
                parts = self.uploads.pop(query["uploadId"][0])
                self.objects[key] = b"".join(parts[number] for number in sorted(parts))
                return _xml("<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>")
            case "abort":
                self.aborted += 1
                del self.uploads[query["uploadId"][0]]
                return Response(status_code=204)
            case "delete":
                for name in _KEY.findall(body.decode()):
                    self.objects.pop(name, None)
                deleted = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in _KEY.findall(body.decode()))
                return _xml(f"<DeleteResult>{deleted}</DeleteResult>")
            case "get" if key in self.objects:
                headers = {"etag": '"x"', "last-modified": "Mon, 23 Nov 2026 16:00:00 GMT"}
                return Response(self.objects[key], headers=headers)
        return _error(404, "NoSuchKey")

    def _operation(self, method: str, query: dict[str, list[str]]) -> str:
        if method == "POST":
            return "begin" if "uploads" in query else "delete" if "delete" in query else "complete"
        return {"PUT": "part", "DELETE": "abort", "GET": "get"}.get(method, "other")


@asynccontextmanager
async def s3_server() -> AsyncIterator[S3Server]:
    """Run a server with an empty bucket."""
    s3 = S3Server()
    methods = ["GET", "PUT", "POST", "DELETE"]
    app = Starlette(routes=[Route("/{path:path}", s3.serve, methods=methods)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    server.capture_signals = nullcontext  # type: ignore[method-assign,assignment]
    with listen("127.0.0.1", 0) as listener:
        s3.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.serve(sockets=[listener]))
            try:
                yield s3
            finally:
                server.should_exit = server.force_exit = True


def _xml(text: str) -> Response:
    return Response(f'<?xml version="1.0"?>{text}', media_type="application/xml")


def _error(status: int, code: str) -> Response:
    response = _xml(f"<Error><Code>{code}</Code></Error>")
    response.status_code = status
    return response
