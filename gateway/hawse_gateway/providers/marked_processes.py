"""Ends the processes started by a runtime, identified by a variable in their environment.

Without isolation, a killed runtime's programs keep running, because there is no namespace that ends along with it.
"""

import os
import select
import signal
import time
from contextlib import suppress
from typing import Final

RUNTIME_MARK: Final = "HAWSE_RUNTIME"  # the environment variable with the runtime id
ROUNDS: Final = 10  # maximum number of rounds, since processes may start others after /proc was read
EXEC_PAUSE: Final = 0.02  # seconds before a second check; during exec(2), a process briefly has no environment


def find_marked(runtime: str) -> list[int]:
    """Return the pids of all processes marked by a runtime, if this user can read their environment."""
    mark = f"{RUNTIME_MARK}={runtime}".encode()
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with suppress(OSError), open(f"/proc/{name}/environ", "rb") as environ:
            if mark in environ.read().split(b"\0"):
                found.append(int(name))
    return found


def end_marked(runtime: str, timeout: float) -> list[int]:
    """Kill all processes marked by a runtime, and wait until they have ended. Blocks.

    Args:
        runtime: The runtime id.
        timeout: Seconds to wait in each round for killed processes to end.

    Returns:
        The pids of processes that have not ended.
    """
    found: list[int] = []
    for _ in range(ROUNDS):
        found = find_marked(runtime)
        if not found:
            select.select([], [], [], EXEC_PAUSE)  # time.sleep() fails under some tools that fake the time
            found = find_marked(runtime)
        if not found or not _kill(found, timeout):
            break
    return found


def _kill(pids: list[int], timeout: float) -> bool:
    """Send SIGKILL to processes, and wait for them. Return whether all have ended."""
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
