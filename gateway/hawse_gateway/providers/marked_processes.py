"""Ends processes that a runtime has started, found by a mark in their environments.

Without isolation, the programs of a killed runtime keep running, and no namespace ends them.
"""

import os
import select
import signal
import time
from contextlib import suppress
from typing import Final

RUNTIME_MARK: Final = "HAWSE_RUNTIME"  # the environment variable, whose value is the runtime id
ROUNDS: Final = 10  # a found process may have started others after /proc was read
EXEC_PAUSE: Final = 0.02  # s before the last check: during exec(2), a process briefly shows no environment


def find_marked(runtime: str) -> list[int]:
    """Return the pids of all processes with a runtime's mark, as far as this user can read their environments."""
    mark = f"{RUNTIME_MARK}={runtime}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/environ", "rb") as environ:
            if mark in environ.read().split(b"\0"):
                found.append(int(name))
    return found


def end_marked(runtime: str, timeout: float) -> list[int]:
    """Kill all processes with a runtime's mark, and wait until they have ended. Blocks.

    Args:
        runtime: The runtime id.
        timeout: Seconds to wait for the processes killed in one round.

    Returns:
        The pids of processes that have not ended.
    """
    found: list[int] = []
    for _ in range(ROUNDS):
        found = find_marked(runtime)
        if not found:
            select.select([], [], [], EXEC_PAUSE)  # time.sleep() fails with some tools that change the date
            found = find_marked(runtime)
        if not found or not _kill(found, timeout):
            break
    return found


def _kill(pids: list[int], timeout: float) -> bool:
    """Send SIGKILL and wait. Returns whether all have ended."""
    fds = []
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            fd = os.pidfd_open(pid)
            fds.append(fd)
            signal.pidfd_send_signal(fd, signal.SIGKILL)
    waiting = select.poll()
    left = set(fds)
    for fd in fds:
        waiting.register(fd, select.POLLIN)
    deadline = time.monotonic() + timeout
    while left and (rest := deadline - time.monotonic()) > 0:
        for fd, _ in waiting.poll(rest * 1000):
            waiting.unregister(fd)
            left.discard(fd)
    for fd in fds:
        os.close(fd)
    return not left
