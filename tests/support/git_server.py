"""A Git server on loopback: `git http-backend` behind a small HTTP server, optionally with a password.

with GitServer(folder) as server:
    server.create("project", {"README": "hello"})
    server.url("project")
"""

import base64
import os
import subprocess
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

IDENTITY = {
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.com",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.com",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
}


def git(folder: Path, *words: str, input: bytes | None = None) -> str:
    """Run git directly, as the reference for the runtime's git methods."""
    env = {**os.environ, **IDENTITY}
    ran = subprocess.run(["git", *words], cwd=folder, env=env, input=input, capture_output=True, check=True)
    return ran.stdout.decode(errors="surrogateescape")


def commit(folder: Path, files: dict[str, str], message: str = "a commit") -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", message)
    return git(folder, "rev-parse", "HEAD").strip()


def repository(folder: Path, files: dict[str, str]) -> Path:
    """Create a repository with one commit on `main`."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "-b", "main")
    commit(folder, files)
    return folder


class GitServer:
    """`credentials`: the (name, password) that requests need. `stall`: the number of bytes after which answers hang."""

    def __init__(self, folder: Path, *, credentials: tuple[str, str] | None = None, stall: int | None = None) -> None:
        self.folder = folder
        self.credentials = credentials
        self.stall = stall
        self.stalled = threading.Event()  # set when an answer hangs at `stall`
        self.redirect: str | None = None  # the origin that all requests are redirected to
        self.seen: list[tuple[str, str | None]] = []  # path and Authorization of each request
        self._release = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._release.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def url(self, name: str) -> str:
        return f"{self.origin}/{name}.git"

    def create(self, name: str, files: dict[str, str]) -> Path:
        """Create a bare repository with these files in its first commit; return a clone that pushes to it."""
        work = repository(self.folder / f"{name}-work", files)
        git(self.folder, "clone", "--quiet", "--bare", str(work), f"{name}.git")
        bare = self.folder / f"{name}.git"
        git(bare, "config", "http.receivepack", "true")
        git(bare, "config", "uploadpack.allowFilter", "true")
        git(work, "remote", "add", "origin", str(bare))
        return work

    def release(self) -> None:
        """Close the connections of hanging answers."""
        self._release.set()

    def wait(self) -> None:
        """Hang until the server ends."""
        self.stalled.set()
        self._release.wait()


class _Handler(BaseHTTPRequestHandler):
    owner: GitServer
    protocol_version = "HTTP/1.0"

    def do_GET(self) -> None:
        with suppress(ConnectionError):  # git was killed before it received the answer
            self._serve()

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass

    def _serve(self) -> None:
        owner = self.owner
        authorization = self.headers.get("Authorization")
        owner.seen.append((self.path, authorization))
        if owner.redirect is not None:
            self.send_response(302)
            self.send_header("Location", owner.redirect + self.path)
            self.end_headers()
            return
        if owner.credentials is not None:
            wanted = "Basic " + base64.b64encode(":".join(owner.credentials).encode()).decode()
            if authorization != wanted:
                self.send_response(401)
                self.send_header("WWW-Authenticate", 'Basic realm="git"')
                self.end_headers()
                return
        answer = self._backend()
        head, _, body = answer.partition(b"\r\n\r\n")
        fields = [line.split(b": ", 1) for line in head.split(b"\r\n")]
        status = next((value for name, value in fields if name == b"Status"), b"200 OK")
        self.send_response_only(int(status.split()[0]))
        for name, value in fields:
            if name != b"Status":
                self.send_header(name.decode(), value.decode())
        self.end_headers()
        if owner.stall is not None and len(body) > owner.stall:
            self.wfile.write(body[: owner.stall])
            self.wfile.flush()
            owner.wait()
            return
        self.wfile.write(body)

    def _backend(self) -> bytes:
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.headers.get("Transfer-Encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline(), 16):
                body += self.rfile.read(size)
                self.rfile.readline()
        env = {
            **os.environ,
            **IDENTITY,
            "GIT_PROJECT_ROOT": str(self.owner.folder),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": self.headers.get("Git-Protocol") or "",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type") or "",
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding") or "",
            "REMOTE_USER": "someone",
            "REMOTE_ADDR": "127.0.0.1",
        }
        ran = subprocess.run(["git", "http-backend"], env=env, input=body, capture_output=True, check=False)
        return ran.stdout
