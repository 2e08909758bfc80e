"""Hands the listening socket of the egress proxy out of the sandbox (docs/decisions/0210).

The socket is in the network namespace of the sandbox, so programs connect to it on their loopback interface. The proxy,
which accepts their connections, is a process outside. It ends when this process ends: it waits for the end of the
connection on which it got the socket. If the proxy itself ends, the next one gets the socket again.
"""

import os
import socket
import threading
import time
from typing import Final

from runtime.posix import linux

HOST: Final = "127.0.0.1"
SOCKET_NAME: Final = "egress.sock"  # in the private directory, where no program can connect
BACKLOG: Final = 128  # connections of programs that wait for a proxy
RETRY: Final = 0.2  # s between attempts to connect: the start of another proxy is not reported


def listen(port: int) -> socket.socket:
    """Return the listening socket, before any program runs that could take the port. Raises `OSError`."""
    return socket.create_server((HOST, port), backlog=BACKLOG)


def lend(listener: socket.socket, directory: int) -> None:
    """Hand the socket to every proxy that listens in a directory, one after the other, as long as this process lives.

    Args:
        listener: What `listen` has returned. It stays open, so that connections wait while there is no proxy.
        directory: A descriptor of the private directory, which has no path here.
    """

    def work() -> None:
        linux.unshare(linux.CLONE_FS)  # the working directory is of this thread only
        os.fchdir(directory)
        while True:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as proxy:
                    proxy.connect(SOCKET_NAME)
                    socket.send_fds(proxy, [b"1"], [listener.fileno()])
                    proxy.recv(1)  # until it ends
            except OSError:
                pass
            time.sleep(RETRY)

    threading.Thread(target=work, name="egress", daemon=True).start()
