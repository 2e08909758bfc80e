"""Unix sockets whose paths are longer than the kernel accepts in an address (unix(7)): such as below a long --state."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LONGEST: Final = 107  # bytes, of sockaddr_un.sun_path less its final NUL


@contextmanager
def socket_address(path: Path) -> Iterator[str]:
    """Yield an address to bind or to connect a Unix socket at `path`, valid within the block.

    It is the path itself, or a path through a descriptor of its directory if that is too long.

    Raises:
        OSError: The directory does not exist, or there is no free descriptor; or the name itself is too long.
    """
    if len(os.fsencode(path)) <= LONGEST:
        yield str(path)
        return
    directory = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{directory}/{path.name}"
    finally:
        os.close(directory)
