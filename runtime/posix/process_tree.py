"""Everything that descends from a program: what a kill must reach, also when the leader went first.

A tree is the program's session (which survives reparenting), all its descendants (which may have left the session),
and whatever bears its mark: a variable of its environment, which is inherited, so that a daemon is known whose parents
have all gone. Only what clears its environment, leaves the session and loses its parents is out of reach
(docs/decisions/0030). /proc/PID/stat, /proc/PID/environ, proc(5).
"""

import asyncio
import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import chain, repeat
from typing import NamedTuple

from hawse.wire import HawseError

MARK = "HAWSE_PROCESS"  # the variable that every process of ours has: its instance
NOBODY = -1  # a root that nobody has: only the mark counts
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


def members(root: int, mark: str = "", *, reaped: bool = False) -> set[Member]:
    """The tree of `root` as far as it is alive now (zombies do not count). Reads all of /proc: for a thread.

    `mark`: `NAME=VALUE` in the environment. `reaped`: the leader is gone, so its pid may be another's. Its session
    cannot be, unless somebody has that pid: a number stays taken as long as a session has it.
    """
    stats = {int(name): stat for name in os.listdir("/proc") if name.isdigit() and (stat := _stat(int(name)))}
    stats.pop(os.getpid(), None)
    roots = _marked(stats, mark) if mark else set()
    sessions = {stats[pid].session for pid in roots}
    if not reaped:
        roots.add(root)
    if not reaped or root not in stats:
        sessions.add(root)
    return {
        Member(pid, stat.started)
        for pid, stat in stats.items()
        if stat.state not in "ZX" and (stat.session in sessions or _descends(pid, roots, stats))
    }


def kill(targets: Iterable[Member], signum: int) -> None:
    """Nobody else, also if a pid is given away meanwhile: the process is held before it is looked at."""
    for member in targets:
        with suppress(ProcessLookupError, PermissionError), _held(member.pid) as fd:
            if _alive(member):
                signal.pidfd_send_signal(fd, signum)


async def end(root: int, signum: int, grace: float, gone: Callable[[], bool], *, mark: str = "") -> None:
    """`signum` to the whole tree, SIGKILL to what is left after `grace` seconds; return when nothing is.

    And CONT, since a stopped program could not act on it. What starts meanwhile is spared until then: it may be how the
    program cleans up. `gone` says whether the leader has been reaped. The members are remembered: one that left the
    session is still found after its parents are gone. Raises `permission_denied` if something survives SIGKILL.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace

    async def look() -> set[Member]:
        return await asyncio.to_thread(members, root, mark, reaped=gone())

    tree = await look()
    kill(tree, signum)
    if signum not in (signal.SIGKILL, signal.SIGCONT):
        kill(tree, signal.SIGCONT)
    for step in chain(STEPS, repeat(STEPS[-1])):
        tree = {member for member in tree | await look() if _alive(member)}
        if not tree and gone():
            return
        if loop.time() >= deadline + KILL_PATIENCE:
            raise HawseError("permission_denied", "it could not be killed", admitted="yes")
        if loop.time() >= deadline:
            kill(tree, signal.SIGKILL)
        await asyncio.sleep(step)


@contextmanager
def _held(pid: int) -> Iterator[int]:
    fd = os.pidfd_open(pid)
    try:
        yield fd
    finally:
        os.close(fd)


def _marked(stats: Iterable[int], mark: str) -> set[int]:
    return {pid for pid in stats if mark.encode() in _environment(pid)}


def _environment(pid: int) -> list[bytes]:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:  # it is gone, or another user's
        return []


def _descends(pid: int, roots: set[int], stats: dict[int, _Stat]) -> bool:
    for _ in stats:  # no longer than that, whatever changed while /proc was read
        if pid in roots:
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
