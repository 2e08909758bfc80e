"""Hands the listening socket of the egress proxy out of the sandbox (docs/decisions/0210).

The socket is in the network namespace of the sandbox, so programs connect to it on their loopback interface. The proxy,
which accepts their connections, is a process outside. It ends when this process ends: it waits for the end of the
connection on which it got the socket. If the proxy itself ends, the next one gets the socket again.
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
BACKLOG: Final = 128  # connections of programs that wait for a proxy
RETRY: Final = 0.2  # s between attempts to connect: the start of another proxy is not reported


def listen(port: int) -> socket.socket:
    """Return the listening socket, before any program runs that could take the port. Raises `OSError`."""
    return socket.create_server((HOST, port), backlog=BACKLOG)


def in_directory(directory: int) -> None:
    """Make a directory, which need not have a path here, the working directory of this thread only.

    Args:
        directory: Its descriptor.
    """
    linux.unshare(linux.CLONE_FS)
    os.fchdir(directory)


def lend(listener: socket.socket, path: str, prepare: Callable[[], object]) -> None:
    """Hand the socket to every proxy that listens at a path, one after the other, as long as this process lives.

    Args:
        listener: What `listen` has returned. It stays open, so that connections wait while there is no proxy.
        path: The path of the Unix socket.
        prepare: Is called in the thread that connects, so that it can reach the path.
    """

    def work() -> None:
        prepare()
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as proxy:
                    proxy.connect(path)
                    socket.send_fds(proxy, [b"1"], [listener.fileno()])
                    proxy.recv(1)  # until it ends
            except OSError:
                pass
            time.sleep(RETRY)

    threading.Thread(target=work, name="egress", daemon=True).start()
