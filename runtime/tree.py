"""Everything that descends from a program: what a kill must reach, also when the leader went first.

A tree is the program's session (which survives reparenting) and all its descendants (which may have left the
session); /proc/PID/stat, proc(5).
"""

import asyncio
import os
import signal
from collections.abc import Callable
from itertools import chain, repeat

STEPS = (0.005, 0.01, 0.02, 0.05, 0.1)  # seconds between looks; the last one is repeated


def members(root: int) -> set[int]:
    """The pids of the tree of `root` that are alive now (zombies do not count)."""
    parents: dict[int, int] = {}
    found: set[int] = set()
    for name in os.listdir("/proc"):
        if name.isdigit() and (stat := _stat(int(name))) is not None:
            pid, (state, parent, session) = int(name), stat
            parents[pid] = parent
            if session == root and state not in "ZX":
                found.add(pid)
    for pid in list(parents):
        ancestor, seen = pid, 0
        while ancestor not in (0, root) and seen < 1000:
            ancestor, seen = parents.get(ancestor, 0), seen + 1
        if ancestor == root and _state(pid) not in (None, "Z", "X"):
            found.add(pid)
    return found


def kill(root: int, signum: int) -> set[int]:
    """Send a signal to every member; return those that were there."""
    found = members(root)
    for pid in found:
        try:
            os.kill(pid, signum)
        except (ProcessLookupError, PermissionError):
            pass
    return found


async def end(root: int, signum: int, grace: float, gone: Callable[[], bool]) -> None:
    """`signum` to the whole tree, SIGKILL to what is left after `grace` seconds; return when nothing is.

    `gone` says whether the leader has been reaped. The members are remembered: one that left the session is
    still found after its parents are gone.
    """
    tree = kill(root, signum)
    if signum not in (signal.SIGKILL, signal.SIGCONT):
        kill(root, signal.SIGCONT)  # a stopped program could not act on the first
    loop = asyncio.get_running_loop()
    deadline = loop.time() + grace
    for step in chain(STEPS, repeat(STEPS[-1])):
        tree = {pid for pid in tree | members(root) if _state(pid) not in (None, "Z", "X")}
        if not tree and gone():
            return
        if loop.time() >= deadline:
            for pid in tree:
                try:
                    os.kill(pid, signal.SIGKILL)
                except (ProcessLookupError, PermissionError):
                    pass
        await asyncio.sleep(step)


def _state(pid: int) -> str | None:
    stat = _stat(pid)
    return stat[0] if stat else None


def _stat(pid: int) -> tuple[str, int, int] | None:
    """(state, parent, session) of a process, None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return fields[0].decode(), int(fields[1]), int(fields[3])
