"""Unix sockets: checks whether a socket accepts connections, and provides addresses for long paths.

A path, such as one below a long --state directory, can be longer than the kernel accepts in an address (unix(7)).
"""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LONGEST: Final = 107  # maximum size of sockaddr_un.sun_path in bytes, without the final NUL


@contextmanager
def socket_address(path: Path) -> Iterator[str]:
    """Yield an address for binding or connecting a Unix socket at `path`. The address is valid within the block.

    The address is the path itself or, if it is too long, a path through a descriptor for its directory.

    Raises:
        OSError: The directory does not exist, no file descriptor is free, or the file name alone is too long.
    """
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)


def accepts_connections(path: Path) -> bool:
    """Return whether a process is listening on the Unix socket `path`. For symbolic links, which a sandbox can create,
    the result is False.
    """
    if not path.exists() or path.is_symlink():
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            with socket_address(path) as address:
                probe.connect(address)
        except BlockingIOError:
            return True  # the queue of connections waiting to be accepted is full
        except OSError:
            return False
        return True
