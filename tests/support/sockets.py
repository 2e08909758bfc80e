"""Information about Unix sockets."""

import socket
import struct
from pathlib import Path


def pid_behind(path: Path) -> int:
    """Return the pid of the process listening on a Unix socket."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.connect(str(path))
        credentials = probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    pid: int = struct.unpack("3i", credentials)[0]
    return pid
