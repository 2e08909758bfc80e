"""Ending a session's command, and neither its shell nor what earlier commands have left running."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from itertools import chain, repeat

from runtime.posix.process_table import Member, ProcessTable
from runtime.posix.process_tree import STEPS, ProcessTrees, kill
from runtime.session.command import SessionCommand
from runtime.session.shell import Shell
from runtime.session.shell_script import STOP_SIGNAL

GRACE = 5.0  # seconds from TERM to KILL
LAST = 2.0  # seconds after KILL in which the shell has to come back
TICKS = os.sysconf("SC_CLK_TCK")


class Before:
    """What a shell had running when a command began."""

    def __init__(self, shell: int, mark: str) -> None:
        """`mark`: as for `ProcessTable.members`."""
        self._mark = mark
        self._shell = shell
        self._since = int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)
        self._children = _children(shell)

    def of_command(self, table: ProcessTable) -> set[Member]:
        """What the command has running: the shell's tree in `table` without what was there before."""
        all_ = {member for member in table.members(self._shell, self._mark) if member.pid != self._shell}
        earlier = {member.pid for member in all_ if member.pid in self._children or member.started < self._since}
        return all_ - {member for pid in earlier for member in table.members(pid)}


async def stop(
    shell: Shell,
    run: SessionCommand,
    before: Before,
    trees: ProcessTrees,
    wait: Callable[[float], Awaitable[None]],
) -> bool:
    """End `run`: TERM to what it started, KILL after GRACE. False if the shell does not come back from it.

    `wait` waits until something has changed, or for so many seconds.

    bash goes on with the next command of a list when a program catches SIGINT, or dies of another signal; the trap
    of STOP_SIGNAL runs before that next command and drops it. Where nothing runs the shell itself is busy, and a
    plain SIGINT is what it reacts to.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + GRACE
    told: set[Member] = set()
    first = True
    for step in chain(STEPS, repeat(STEPS[-1])):
        doomed = before.of_command(await trees.table())
        late = clock() >= deadline
        if run.exit is not None:
            kill(doomed | told, signal.SIGKILL)
            return shell.exit is None
        if clock() >= deadline + LAST:
            kill(doomed | told, signal.SIGKILL)
            return False
        if first or not doomed:
            shell.signal(STOP_SIGNAL if first else signal.SIGINT)
        kill(doomed if late else doomed - told, signal.SIGKILL if late else signal.SIGTERM)
        kill(doomed - told, signal.SIGCONT)
        told |= doomed
        if not first and shell.unread == 0:
            shell.say(shell.lines.tell("E", run.token, "$?"))  # it dropped what it was to say at the end
        first = False
        await wait(step)
    return False


async def settle(
    shell: Shell, token: str, arrived: Callable[[], bool], wait: Callable[[float], Awaitable[None]]
) -> bool:
    """Wait until the shell has heard every signal that it was sent, so that none of them hits the next command."""
    clock = asyncio.get_running_loop().time
    deadline = clock() + LAST
    for step in chain(STEPS, repeat(STEPS[-1])):
        if arrived() or shell.exit is not None:
            return shell.exit is None
        if clock() >= deadline:
            return False
        if shell.unread == 0:
            shell.say(shell.lines.tell("Y", token))
        await wait(step)
    return False


def _children(pid: int) -> set[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return {int(child) for child in file.read().split()}
    except OSError:  # a kernel without it: then the time of their start has to do
        return set()
