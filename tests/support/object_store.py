"""An S3 server in a separate process with its objects on disk, which tests stop and kill.

`python -m tests.support.object_store FOLDER` runs it with one bucket and prints its port. It supports the operations
that rclone and the tests use: objects with ranges and ETags, copies, lists with prefixes and delimiters, multipart
uploads. A request must name the access key; its signature is not verified.
"""

import asyncio
import hashlib
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote, unquote
from xml.sax.saxutils import escape

import obstore
import uvicorn
from obstore.store import S3Store
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from hawse_gateway.transport.listener import listen
from tests.support.http_clients import http_client

BUCKET = "bucket"
KEY_ID, SECRET = "AKIDOFTHETESTS", "the-secret-key-of-the-tests"
BLOCK = 1 << 20


class ObjectStoreServer:
    """The server, with one bucket."""

    def __init__(self, process: asyncio.subprocess.Process, url: str) -> None:
        self._process = process
        self.url = url
        self.bucket = S3Store(
            BUCKET,
            endpoint=url,
            access_key_id=KEY_ID,
            secret_access_key=SECRET,
            region="us-east-1",
            client_options={"allow_http": True},
        )

    async def keys(self) -> list[str]:
        return sorted([each["path"] for page in [p async for p in obstore.list(self.bucket)] for each in page])

    async def content(self, key: str) -> bytes:
        return bytes(await (await obstore.get_async(self.bucket, key)).bytes_async())

    async def sha256(self, key: str) -> str:
        found = hashlib.sha256()
        async for block in (await obstore.get_async(self.bucket, key)).stream():
            found.update(block)
        return found.hexdigest()

    async def put(self, key: str, content: bytes) -> None:
        await obstore.put_async(self.bucket, key, content)

    async def delete_bucket(self) -> None:
        """Report from now on that the bucket does not exist. `create_bucket` restores its objects."""
        await self._change_bucket("DELETE")

    async def create_bucket(self) -> None:
        await self._change_bucket("PUT")

    async def _change_bucket(self, method: str) -> None:
        async with http_client(self.url) as http:
            (await http.request(method, f"/{BUCKET}")).raise_for_status()

    def suspend(self) -> None:
        """Accept connections but never answer."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)


@asynccontextmanager
async def object_store() -> AsyncIterator[ObjectStoreServer]:
    """Run a server with an empty bucket."""
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.support.object_store", folder, stdout=asyncio.subprocess.PIPE
        )
        try:
            assert process.stdout is not None
            port = int(await process.stdout.readline())
            yield ObjectStoreServer(process, f"http://127.0.0.1:{port}")
        finally:
            process.kill()
            await process.wait()


class Objects:
    """Handles the requests. Each object is a file named by its quoted key; its ETag is in a file next to it."""

    def __init__(self, folder: Path) -> None:
        self._objects, self._tags, self._uploads = (folder / name for name in ("objects", "tags", "uploads"))
        for each in (self._objects, self._tags, self._uploads):
            each.mkdir()
        self._exists = True  # whether the bucket exists
        self._completed: dict[str, str] = {}  # the ETags of completed uploads
        self._digests: dict[Path, bytes] = {}  # the digests of parts

    async def serve(self, request: Request) -> Response:
        bucket, _, key = request.path_params["path"].partition("/")
        query = request.query_params
        if bucket == BUCKET and not key and request.method in ("PUT", "DELETE"):
            self._exists = request.method == "PUT"
            return Response(status_code=204)
        if bucket != BUCKET or not self._exists:
            return _error(404, "NoSuchBucket")
        if f"Credential={KEY_ID}/" not in request.headers.get("authorization", ""):
            return _error(403, "AccessDenied")
        if not key:
            return self._list(request)
        match request.method:
            case "PUT" if "partNumber" in query:
                part = self._uploads / query["uploadId"] / f"{int(query['partNumber']):05}"
                digest = self._digests[part] = await _receive(request, part)
                return Response(headers={"etag": _etag(digest)})
            case "PUT" if source := request.headers.get("x-amz-copy-source"):
                return self._copy(unquote(source).lstrip("/").partition("/")[2], key)
            case "PUT":
                tag = _etag(await _receive(request, self._file(key)))
                self._tag(key).write_text(tag)
                return Response(headers={"etag": tag})
            case "POST" if "uploads" in query:
                id = os.urandom(8).hex()
                (self._uploads / id).mkdir()
                return _xml(f"<InitiateMultipartUploadResult><UploadId>{id}</UploadId></InitiateMultipartUploadResult>")
            case "POST":
                return self._complete(query["uploadId"], key)
            case "DELETE" if "uploadId" in query:
                shutil.rmtree(self._uploads / query["uploadId"])
                return Response(status_code=204)
            case "DELETE":
                self._file(key).unlink(missing_ok=True)
                return Response(status_code=204)
        if not self._file(key).exists():
            return _error(404, "NoSuchKey")
        return FileResponse(self._file(key), headers={"etag": self._tag(key).read_text()})

    def _list(self, request: Request) -> Response:
        query = request.query_params
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        contents, common = [], set()
        for name in sorted(map(unquote, os.listdir(self._objects))):
            if not name.startswith(prefix):
                continue
            inner, found, _ = name[len(prefix) :].partition(delimiter) if delimiter else (name, "", "")
            if found:
                common.add(prefix + inner + delimiter)
                continue
            status = self._file(name).stat()
            contents.append(
                f"<Contents><Key>{escape(name)}</Key><Size>{status.st_size}</Size><LastModified>{_time(status.st_mtime)}"
                f"</LastModified><ETag>{escape(self._tag(name).read_text())}</ETag></Contents>"
            )
        prefixes = "".join(f"<CommonPrefixes><Prefix>{escape(each)}</Prefix></CommonPrefixes>" for each in common)
        return _xml(
            f"<ListBucketResult><Name>{BUCKET}</Name><IsTruncated>false</IsTruncated>{''.join(contents)}{prefixes}"
            "</ListBucketResult>"
        )

    def _copy(self, source: str, key: str) -> Response:
        if not self._file(source).exists():
            return _error(404, "NoSuchKey")
        if source != key:
            shutil.copyfile(self._file(source), self._file(key))
        self._tag(key).write_text(tag := self._tag(source).read_text())
        now = _time(self._file(key).stat().st_mtime)
        return _xml(f"<CopyObjectResult><ETag>{tag}</ETag><LastModified>{now}</LastModified></CopyObjectResult>")

    def _complete(self, id: str, key: str) -> Response:
        """Create the object. A client that times out and repeats the request gets the same answer."""
        if id not in self._completed:
            self._completed[id] = self._join(id, key)
        tag = self._completed[id]
        return _xml(f"<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>")

    def _join(self, id: str, key: str) -> str:
        """Join the parts of an upload, and return the ETag. Reads each part only once, because a client is waiting."""
        parts = sorted((self._uploads / id).iterdir())
        digests = hashlib.md5()
        with self._file(key).open("wb") as file:
            for part in parts:
                digests.update(self._digests.pop(part))
                with part.open("rb") as source:
                    while os.sendfile(file.fileno(), source.fileno(), None, BLOCK):
                        pass
        tag = f'"{digests.hexdigest()}-{len(parts)}"'
        self._tag(key).write_text(tag)
        shutil.rmtree(self._uploads / id)
        return tag

    def _file(self, key: str) -> Path:
        return self._objects / quote(key, safe="")

    def _tag(self, key: str) -> Path:
        return self._tags / quote(key, safe="")


async def _receive(request: Request, path: Path) -> bytes:
    """Write the request body to a file, and return its digest."""
    digest = hashlib.md5()
    new = path.parent.parent / os.urandom(8).hex()  # outside the folders of lists and completions
    with new.open("wb") as file:
        async for block in request.stream():
            digest.update(block)
            file.write(block)
    new.replace(path)
    return digest.digest()


def _etag(digest: bytes) -> str:
    return f'"{digest.hex()}"'


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def _xml(text: str) -> Response:
    return Response(f'<?xml version="1.0" encoding="UTF-8"?>{text}', media_type="application/xml")


def _error(status: int, code: str) -> Response:
    response = _xml(f"<Error><Code>{code}</Code></Error>")
    response.status_code = status
    return response


def main() -> None:
    objects = Objects(Path(sys.argv[1]))
    methods = ["GET", "HEAD", "PUT", "POST", "DELETE"]
    app = Starlette(routes=[Route("/{path:path}", objects.serve, methods=methods)])
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="off"))
    with listen("127.0.0.1", 0) as listener:
        os.write(1, b"%d\n" % listener.getsockname()[1])
        asyncio.run(server.serve(sockets=[listener]))


if __name__ == "__main__":
    main()
