"""Passes the egress proxy's listening socket out of the sandbox (docs/decisions/0210).

The socket belongs to the sandbox's network namespace, so programs connect to it on their loopback interface. The proxy
that accepts the connections runs outside. It receives the socket over a connection to this process, and exits when that
connection ends. If the proxy exits first, its successor is given the socket.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

from hawse_runtime.posix import linux

HOST: Final = "127.0.0.1"
SOCKET_NAME: Final = "egress.sock"  # the socket's name in a directory that programs can't reach
BACKLOG: Final = 128  # maximum number of pending connections to a proxy
RETRY: Final = 0.2  # seconds between connection attempts; the only way to notice a new proxy is to connect


def listen(port: int) -> socket.socket:
    """Return the listening socket. Call this before any program has a chance to take the port. Raises `OSError`."""
    return socket.create_server((HOST, port), backlog=BACKLOG)


def in_directory(directory: int) -> None:
    """Change the working directory of this thread only. The directory may have no path in this namespace.

    Args:
        directory: The directory's descriptor.
    """
    linux.unshare(linux.CLONE_FS)
    os.fchdir(directory)


def lend(listener: socket.socket, path: str, prepare: Callable[[], object]) -> None:
    """Pass the socket to each proxy that listens at a path, one after the other, until this process exits.

    Args:
        listener: The socket from `listen`. It stays open, so that connections queue up while no proxy is running.
        path: The Unix socket's path.
        prepare: Called in the connecting thread to make `path` reachable.
    """

    def work() -> None:
        prepare()
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as proxy:
                    proxy.connect(path)
                    socket.send_fds(proxy, [b"1"], [listener.fileno()])
                    proxy.recv(1)  # `recv` returns when the proxy exits
            except OSError:
                pass
            time.sleep(RETRY)

    threading.Thread(target=work, name="egress", daemon=True).start()
