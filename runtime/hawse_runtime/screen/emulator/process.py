"""`python -m hawse_runtime.screen.emulator.process`: hosts screens for the runtime, connected through descriptor 3.

libghostty reads hostile bytes, so it runs in this process, where a hang or a crash does not affect the runtime. The
process exits along with the runtime. Its memory, descriptors, and CPU time per request are limited.
"""

import gc
import os
import resource
import signal
import socket
from contextlib import suppress

from hawse_runtime.core.framing import LENGTH
from hawse_runtime.posix import linux
from hawse_runtime.screen.emulator.emulators import Emulators
from hawse_runtime.screen.requests import Answer, decode_request, framed

INHERITED = 3  # hawse_runtime.posix.spawn.EXTRA_FD
MEMORY = 4 << 30  # bytes of address space; enough for 200 terminals with the largest scrollback from hostile output
SECONDS = 10  # seconds of CPU time per request; the longest legitimate ones take 0.3 s
DESCRIPTORS = 16
OOM_SCORE = 300  # added to this process's OOM score (up to 1000), so that it is killed before the runtime
READ_SIZE = 128 << 10


def serve(connection: socket.socket) -> None:
    """Send one response when ready, then one for each request, until the runtime closes the connection."""
    emulators = Emulators()
    connection.sendall(framed(Answer()))
    with connection, connection.makefile("rb", buffering=READ_SIZE) as requests:
        while len(header := requests.read(LENGTH.size)) == LENGTH.size:
            (size,) = LENGTH.unpack(header)
            body = requests.read(size)
            if len(body) < size:
                return
            signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)  # the signal's default action ends the process
            answer = emulators.handle(decode_request(body))
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            connection.sendall(framed(answer))


def confine() -> None:
    """Limit this process's resources and privileges, and have it exit along with its parent."""
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write(str(OOM_SCORE))
    limits = {
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_NOFILE: DESCRIPTORS,
        resource.RLIMIT_CORE: 0,
    }
    for what, most in limits.items():
        _, hard = resource.getrlimit(what)
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (least, least))
    os.closerange(INHERITED + 1, 1 << 16)
    linux.die_with_parent()
    linux.deny_dumps()
    linux.forbid_new_privileges()


def main() -> None:
    confine()
    os.chdir("/")
    gc.freeze()
    with suppress(ConnectionError):  # the runtime has exited
        serve(socket.socket(fileno=INHERITED))


if __name__ == "__main__":
    main()
