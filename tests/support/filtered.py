"""Sandboxes with a filtered network: outside servers, listeners that must be unreachable, and a gateway for each
provider.
"""

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, Final

import psutil

from hawse.client import Sandbox
from tests.support.docker_stack import TOOLS, DockerStack, make_tools_image
from tests.support.echo_server import EchoServer, Trusted
from tests.support.stack import Stack

SERVERS: Final = "127.0.0.3"  # the address of the allowed servers
TRAP: Final = "127.0.0.2"
SECRET: Final = "s3cret-of-the-test-0123456789"


class Traps:
    """Listeners that must be unreachable from a sandbox: TCP on several addresses, UDP, and Unix sockets."""

    def __init__(self, folder: Path) -> None:
        self.reached: list[str] = []
        self.path = str(folder / "trap.sock")
        self.abstract = f"hawse-trap-{os.getpid()}"
        lan = [a.address for many in psutil.net_if_addrs().values() for a in many if a.family == socket.AF_INET]
        self.lan = next((address for address in lan if not address.startswith("127.")), "127.0.0.4")
        self._sockets = [socket.create_server((TRAP, 0))]
        self.port = int(self._sockets[0].getsockname()[1])
        for address in {self.lan, SERVERS, "127.0.0.1"}:
            with suppress(OSError):  # another program may use the port there
                self._sockets.append(socket.create_server((address, self.port)))
        with suppress(OSError):
            self._sockets.append(socket.create_server(("::1", self.port), family=socket.AF_INET6))
        for name in (self.path, "\0" + self.abstract):
            self._sockets.append(socket.socket(socket.AF_UNIX))
            self._sockets[-1].bind(name)
            self._sockets[-1].listen()
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind((TRAP, self.port))
        self._threads = [threading.Thread(target=self._serve, args=(each,)) for each in self._sockets]
        self._threads.append(threading.Thread(target=self._receive))
        for thread in self._threads:
            thread.start()

    def _serve(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, peer = listener.accept()
            except OSError:
                return
            self.reached.append(f"{listener.getsockname()!r} by {peer!r}")
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nTRAP")

    def _receive(self) -> None:
        while (received := self._udp.recvfrom(1000))[0] != b"end":
            self.reached.append(f"UDP by {received[1]!r}")

    def close(self) -> None:
        for each in self._sockets:
            each.shutdown(socket.SHUT_RDWR)
            each.close()
        self._udp.sendto(b"end", self._udp.getsockname())
        for thread in self._threads:
            thread.join()
        self._udp.close()


class World:
    """The outside servers, and a gateway whose sandboxes can reach some of them."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.folder = folder
        self.traps = Traps(folder)
        stack.callback(self.traps.close)
        self.trusted = Trusted(folder)
        self.api = stack.enter_context(EchoServer(self.trusted, "api.test", address=SERVERS))
        self.plain = stack.enter_context(EchoServer(address=SERVERS, answer=self._plain))
        (folder / "secret").write_text(SECRET)
        names = ("api.test", "plain.test", "git.test", "index.test", "closed.test")
        addresses = [f'"{name}" = "{SERVERS}"' for name in names]
        addresses += [f'"evil.test" = "{TRAP}"', '"inside.test" = "10.0.0.1"', '"meta.test" = "169.254.169.254"']
        lines = [f'networks = ["{SERVERS}/32"]', f'ca = "{self.trusted.path}"', "[addresses]", *addresses]
        for name, hosts, into in (("api", "api.test:*", 'header = "X-Key"'), ("git", "git.test:*", 'basic = "ann"')):
            lines += [f"[secrets.{name}]", f'hosts = ["{hosts}"]', into, f'file = "{folder / "secret"}"']
        self.settings = folder / "egress.toml"
        self.settings.write_text("\n".join(lines))

    def _plain(self, handler: BaseHTTPRequestHandler, request: dict[str, Any]) -> bool:
        if request["target"] == "/redirect":
            handler.send_response(302)
            handler.send_header("Location", f"http://evil.test:{self.traps.port}/")
            handler.send_header("Content-Length", "0")
        elif request["target"] == "/upgrade" and any(name == "upgrade" for name, _ in request["headers"]):
            handler.send_response(101)
        else:
            return False
        handler.end_headers()
        return True


@contextmanager
def made(folder: Path) -> Iterator[World]:
    with ExitStack() as stack:
        yield World(folder, stack)


@dataclass(frozen=True)
class Kind:
    """The differences between providers.

    Attributes:
        provider: The name.
        python: The interpreter in sandboxes.
        handover: The path where the runtime hands over its listening socket, as seen by the runtime.
        folders: The directories with a sandbox's files.
    """

    provider: str
    python: str
    handover: str
    folders: tuple[str, ...]

    def stack(self, world: World) -> Stack:
        options = ("--egress", str(world.settings))
        if self.provider == "local":
            return Stack(world.folder / "state", *options, isolation="bubblewrap")
        make_tools_image()
        return DockerStack(world.folder / "state", "--provider", "docker", "--image", TOOLS, *options)


LOCAL: Final = Kind("local", sys.executable, "/run/hawse/egress.sock", ("workspace", "run/hawse", "tmp", "etc"))
DOCKER: Final = Kind(
    "docker",
    "python3",
    "/hawse/socket/egress.sock",
    ("workspace", "hawse/private", "hawse/socket", "run", "tmp", "etc"),
)


async def output(box: Sandbox, command: str) -> str:
    result = await box.exec(f"{{ {command}\n}} 2>&1", timeout=120)
    return bytes(result.stdout).decode(errors="replace").strip()
