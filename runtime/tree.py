"""Everything that descends from a program: what a kill must reach, also when the leader went first.

A tree is the program's session (which survives reparenting) and all its descendants (which may have left the
session); /proc/PID/stat, proc(5).
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable
from itertools import chain, repeat
from typing import NamedTuple

from hawse.wire import HawseError

STEPS = (0.005, 0.01, 0.02, 0.05, 0.1)  # seconds between looks; the last one is repeated
KILL_PATIENCE = (
    5.0  # seconds that what was sent SIGKILL has for going: it may belong to another user, or hang in the kernel
)


class Member(NamedTuple):
    """A process that was seen alive. `started` (in clock ticks) tells it from a later one of the same pid."""

    pid: int
    started: int


class _Stat(NamedTuple):
    state: str
    parent: int
    session: int
    started: int


def members(root: int) -> set[Member]:
    """The tree of `root` as far as it is alive now (zombies do not count)."""
    stats = {int(name): stat for name in os.listdir("/proc") if name.isdigit() and (stat := _stat(int(name)))}
    return {
        Member(pid, stat.started)
        for pid, stat in stats.items()
        if stat.state not in "ZX" and (stat.session == root or _descends(pid, root, stats))
    }


def kill(targets: Iterable[Member], signum: int) -> None:
    for member in targets:
        if _alive(member):
            try:
                os.kill(member.pid, signum)
            except (ProcessLookupError, PermissionError):
                pass


def interrupt(root: int, signum: int) -> set[Member]:
    """Send a signal to the whole tree, and CONT: a stopped program could not act on it. Return what was there."""
    tree = members(root)
    kill(tree, signum)
    if signum not in (signal.SIGKILL, signal.SIGCONT):
        kill(tree, signal.SIGCONT)
    return tree


async def end(root: int, signum: int, grace: float, gone: Callable[[], bool]) -> None:
    """`signum` to the whole tree, SIGKILL to what is left after `grace` seconds; return when nothing is.

    `gone` says whether the leader has been reaped. The members are remembered: one that left the session is
    still found after its parents are gone. Raises `permission_denied` if something survives SIGKILL.
    """
    tree = interrupt(root, signum)
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace
    for step in chain(STEPS, repeat(STEPS[-1])):
        tree = {member for member in tree | members(root) if _alive(member)}
        if not tree and gone():
            return
        if loop.time() >= deadline + KILL_PATIENCE:
            raise HawseError("permission_denied", "it could not be killed", admitted="yes")
        if loop.time() >= deadline:
            kill(tree, signal.SIGKILL)
        await asyncio.sleep(step)


def _descends(pid: int, root: int, stats: dict[int, _Stat]) -> bool:
    for _ in stats:  # no longer than that, whatever changed while /proc was read
        if pid == root:
            return True
        if pid not in stats:
            return False
        pid = stats[pid].parent
    return False


def _alive(member: Member) -> bool:
    stat = _stat(member.pid)
    return stat is not None and stat.started == member.started and stat.state not in "ZX"


def _stat(pid: int) -> _Stat | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return _Stat(fields[0].decode(), int(fields[1]), int(fields[3]), int(fields[19]))
