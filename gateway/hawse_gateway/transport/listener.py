"""The listening socket, with options that keep queues short."""

import socket
from typing import Final

NOTSENT_LOWAT: Final = 128 << 10  # maximum unsent data in the kernel, in bytes; it could be 3 to 4 MB otherwise
# Seconds of silence before the first keepalive probe, seconds between probes, and number of probes. An event stream can
# be silent for hours, but if a peer has disappeared, its socket must be closed.
KEEPALIVE: Final = {socket.TCP_KEEPIDLE: 60, socket.TCP_KEEPINTVL: 15, socket.TCP_KEEPCNT: 4}
BACKLOG: Final = 1024  # maximum number of connections in the accept queue
TCP_NOTSENT_LOWAT: Final = getattr(socket, "TCP_NOTSENT_LOWAT", 25)  # part of Python's socket module since 3.12


def listen(host: str, port: int) -> socket.socket:
    """Return a listening TCP socket. On Linux, accepted sockets inherit the options set on it. Raises `OSError`."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, NOTSENT_LOWAT)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEPALIVE.items():
            listener.setsockopt(socket.IPPROTO_TCP, option, value)
        listener.bind(address)
        listener.listen(BACKLOG)
        listener.setblocking(False)
    except OSError:
        listener.close()
        raise
    return listener


def numeric(host: str) -> str:
    """Return a host name's first IP address, for listening. Blocks. Raises `OSError` if the name has no address."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0][4][0]
    return str(found)
