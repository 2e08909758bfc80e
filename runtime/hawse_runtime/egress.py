"""Hands the egress proxy's listening socket out of the sandbox (docs/decisions/0210).

The socket belongs to the sandbox's network namespace, so programs connect to it on their loopback interface. The proxy
that accepts their connections runs outside. It received the socket over a connection to this process, and exits when
that connection ends. If the proxy itself exits, its successor receives the socket again.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from typing import Final

from hawse_runtime.posix import linux

HOST: Final = "127.0.0.1"
SOCKET_NAME: Final = "egress.sock"  # in a directory where no program can connect
BACKLOG: Final = 128  # connections waiting for a proxy
RETRY: Final = 0.2  # seconds between attempts to connect: a new proxy does not announce itself


def listen(port: int) -> socket.socket:
    """Return the listening socket. Called before any program runs that could take the port. Raises `OSError`."""
    return socket.create_server((HOST, port), backlog=BACKLOG)


def in_directory(directory: int) -> None:
    """Change the working directory of this thread only. The directory may have no path in this namespace.

    Args:
        directory: Its descriptor.
    """
    linux.unshare(linux.CLONE_FS)
    os.fchdir(directory)


def lend(listener: socket.socket, path: str, prepare: Callable[[], object]) -> None:
    """Hand the socket to each proxy that listens at a path, one after another, until this process exits.

    Args:
        listener: The socket from `listen`. It stays open, so that connections wait while no proxy is running.
        path: The path of the Unix socket.
        prepare: Called in the connecting thread, to make the path reachable.
    """

    def work() -> None:
        prepare()
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as proxy:
                    proxy.connect(path)
                    socket.send_fds(proxy, [b"1"], [listener.fileno()])
                    proxy.recv(1)  # until the proxy exits
            except OSError:
                pass
            time.sleep(RETRY)

    threading.Thread(target=work, name="egress", daemon=True).start()
