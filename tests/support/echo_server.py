"""HTTP and HTTPS servers on loopback that record each request and echo it, for the tests of the egress proxy."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from hawse_gateway.egress.certificates import Authority, new_authority


class Trusted:
    """A test authority that issues certificates for any name. `path` is its own certificate."""

    def __init__(self, folder: Path) -> None:
        key, certificate = new_authority("tests")
        self.path = folder / "authority.pem"
        self.path.write_text(certificate)
        self.certificate = certificate
        self._authority = Authority(key, certificate)

    def context(self, host: str) -> Any:
        return self._authority.context(host)


class EchoServer:
    """Answers each request with JSON: `method`, `target`, `headers` (pairs) and `body`.

    Args:
        trusted: Issues its certificate; None means plain HTTP.
        host: The name in the certificate.
        answer: Handles a request instead of the echo, if it returns true.
        address: The address to listen on.
    """

    def __init__(
        self,
        trusted: Trusted | None = None,
        host: str = "api.test",
        answer: Callable[[BaseHTTPRequestHandler, dict[str, Any]], bool] | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        self.seen: list[dict[str, Any]] = []
        seen = self.seen

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return self.echo
                raise AttributeError(name)

            def echo(self) -> None:
                body = self._body()
                request = {
                    "method": self.command,
                    "target": self.path,
                    "headers": [[name.lower(), value] for name, value in self.headers.items()],
                    "body": body.decode("latin-1"),
                }
                seen.append(request)
                if answer is not None and answer(self, request):
                    return
                content = json.dumps(request).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(content)

            def _body(self) -> bytes:
                if self.headers.get("Transfer-Encoding") == "chunked":
                    body = b""
                    while size := int(self.rfile.readline(), 16):
                        body += self.rfile.read(size)
                        self.rfile.readline()
                    self.rfile.readline()
                    return body
                return self.rfile.read(int(self.headers.get("Content-Length", 0)))

            def log_message(self, *_: object) -> None:
                """Suppress log output."""

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_: object) -> None:
                """Ignore errors, such as a client that disconnects."""

            def get_request(self) -> Any:
                connection, address = super().get_request()
                if trusted is not None:  # the connection's thread does the handshake
                    context = trusted.context(host)
                    connection = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
                return connection, address

        self._server = Server((address, 0), Handler)
        self.port = int(self._server.server_address[1])

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
