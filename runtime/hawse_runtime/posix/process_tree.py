"""Ends all processes descended from a program, even if the tree's leader exited first.

A tree consists of the program's session, which survives reparenting; all descendants, even if they have left the
session; and all processes that carry its mark. The mark is an inherited environment variable that identifies daemons
whose parents have exited. A process escapes only if it clears its environment, leaves the session and loses its parents
(docs/decisions/0030).
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, repeat

from hawse.wire import HawseError
from hawse_runtime.core.thread_pool import ThreadPool
from hawse_runtime.posix.descriptor_reserve import DescriptorReserve
from hawse_runtime.posix.process_table import Member, ProcessTable, SharedProcessReader, alive, living

NO_ROOT = -1  # used instead of a pid if members can be found only by the mark
STEPS = (0.005, 0.01, 0.02, 0.05, 0.1)  # seconds between checks of the tree; the last value repeats
SIGKILL_TIMEOUT = 5.0  # seconds to wait after SIGKILL: a process may belong to another user or be stuck in the kernel


class ProcessTrees:
    """Finds and ends process trees. Concurrent calls share one read of /proc (docs/decisions/0030)."""

    def __init__(self, pool: ThreadPool, *, sigkill_timeout: float = SIGKILL_TIMEOUT) -> None:
        """Create the instance. `pool` is the thread pool for reading /proc; don't run slow work in it."""
        self._reader = SharedProcessReader(pool)
        self._sigkill_timeout = sigkill_timeout
        self._reserve = DescriptorReserve()

    def close(self) -> None:
        """Close the reserved descriptors."""
        self._reserve.close()

    async def table(self) -> ProcessTable:
        """Return the current processes."""
        return await self._reader.read()

    async def end(self, root: int, signum: int, grace: float, reaped: Callable[[], bool], *, mark: str = "") -> None:
        """Send `signum` to a process tree and, after `grace` seconds, SIGKILL. Return once all processes have exited.

        SIGCONT follows `signum`, because a stopped program can't handle signals. Processes started later get only
        SIGKILL, because they may be part of the program's cleanup. Members are remembered: if one leaves the session,
        it is still found after its parents have exited.

        Args:
            root: The tree leader's pid, or NO_ROOT.
            signum: The first signal.
            grace: Number of seconds between `signum` and SIGKILL.
            reaped: Returns whether the leader has exited and been reaped.
            mark: The `NAME=value` in the environment of all members; empty if there is no mark.

        Raises:
            HawseError: `permission_denied` if a process survives SIGKILL.
        """
        with self._reserve.released():
            await self._end(root, signum, grace, reaped, mark)

    async def _end(self, root: int, signum: int, grace: float, reaped: Callable[[], bool], mark: str) -> None:
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace

        async def look() -> set[Member]:
            table = await self._reader.read()
            return table.members(root, mark, reaped=reaped())

        tree = await look()
        kill(tree, signum)
        if signum not in (signal.SIGKILL, signal.SIGCONT):
            kill(tree, signal.SIGCONT)
        for step in chain(STEPS, repeat(STEPS[-1])):
            tree = living(tree | await look())
            if not tree and reaped():
                return
            if loop.time() >= deadline + self._sigkill_timeout:
                pids = ", ".join(str(member.pid) for member in sorted(tree))
                raise HawseError("permission_denied", f"processes survive SIGKILL: {pids}", admitted="yes")
            if loop.time() >= deadline:
                kill(tree, signal.SIGKILL)
            await asyncio.sleep(step)


def kill(targets: Iterable[Member], signum: int) -> None:
    """Send `signum` to these processes, but never to later ones with the same pids (pidfd_open(2))."""
    for member in targets:
        with suppress(ProcessLookupError, PermissionError), _pidfd(member.pid) as fd:
            if alive(member):
                signal.pidfd_send_signal(fd, signum)


@contextmanager
def _pidfd(pid: int) -> Iterator[int]:
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)
