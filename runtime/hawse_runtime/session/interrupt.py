"""Ends a session's current command, but not the shell or any processes left running by earlier commands."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable
from itertools import chain, repeat

from hawse_runtime.posix.proc import read_proc
from hawse_runtime.posix.process_table import Member, ProcessTable
from hawse_runtime.posix.process_tree import STEPS, ProcessTrees, kill
from hawse_runtime.session.command import SessionCommand
from hawse_runtime.session.shell import Shell
from hawse_runtime.session.shell_script import STOP_SIGNAL

RETURN_TIMEOUT = 2.0  # seconds to wait for the shell's report after SIGKILL
TICKS = os.sysconf("SC_CLK_TCK")


class ProcessesBefore:
    """A shell's processes that were already running when a command started."""

    def __init__(self, shell: int, mark: str) -> None:
        """Record the processes of `shell`. `mark` means the same as in `ProcessTable.members`."""
        self._mark = mark
        self._shell = shell
        self._since = int(time.clock_gettime(time.CLOCK_BOOTTIME) * TICKS)
        self._children = _children(shell)

    def of_command(self, table: ProcessTable) -> set[Member]:
        """Return the command's processes: the shell's tree in `table` minus earlier processes and their descendants."""
        all_ = {member for member in table.members(self._shell, self._mark) if member.pid != self._shell}
        earlier = {member.pid for member in all_ if member.pid in self._children or member.started < self._since}
        return all_ - {member for pid in earlier for member in table.members(pid)}


async def stop(
    shell: Shell,
    run: SessionCommand,
    before: ProcessesBefore,
    trees: ProcessTrees,
    wait: Callable[[float], Awaitable[None]],
    *,
    grace: float,
) -> bool:
    """End a command by sending its processes SIGTERM and, after `grace` seconds, SIGKILL.

    If a program in a list of commands catches SIGINT or dies from another signal, bash proceeds to the next command in
    the list. The trap for STOP_SIGNAL runs before that and drops the list. It works only once the shell has reported
    that the command has started. If no program is running, the shell itself is busy, and SIGINT interrupts it.

    Args:
        shell: The session's shell.
        run: The command to end.
        before: The processes already running before the command.
        trees: Reads the process table.
        wait: Waits for the session's state to change, for at most the given number of seconds.
        grace: The number of seconds between SIGTERM and SIGKILL.

    Returns:
        Whether the shell is running and has reported that the command has ended.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + grace
    signalled: set[Member] = set()
    first = True
    for step in chain(STEPS, repeat(STEPS[-1])):
        doomed = before.of_command(await trees.table())
        late = clock() >= deadline
        if run.exit is not None:
            kill(doomed | signalled, signal.SIGKILL)
            return shell.exit is None
        if clock() >= deadline + RETURN_TIMEOUT:
            kill(doomed | signalled, signal.SIGKILL)
            return False
        if not run.running:  # before it reports the start, the shell ignores STOP_SIGNAL
            await wait(step)
            continue
        if first or not doomed:
            shell.signal(STOP_SIGNAL if first else signal.SIGINT)
        kill(doomed if late else doomed - signalled, signal.SIGKILL if late else signal.SIGTERM)
        kill(doomed - signalled, signal.SIGCONT)
        signalled |= doomed
        if not first and shell.unread == 0:
            shell.send(shell.lines.report("E", run.token, "$?"))  # replaces the line that the shell has dropped
        first = False
        await wait(step)
    return False


async def settle(
    shell: Shell, token: str, arrived: Callable[[], bool], wait: Callable[[float], Awaitable[None]]
) -> bool:
    """Wait until all pending signals have reached the shell, so that none can interrupt the next command.

    Args:
        shell: The session's shell.
        token: The token for a message that the shell is asked to send.
        arrived: Returns whether that message has been received.
        wait: Waits for the session's state to change, for at most the given number of seconds.

    Returns:
        Whether the message was received within RETURN_TIMEOUT.
    """
    clock = asyncio.get_running_loop().time
    deadline = clock() + RETURN_TIMEOUT
    for step in chain(STEPS, repeat(STEPS[-1])):
        if arrived() or shell.exit is not None:
            return shell.exit is None
        if clock() >= deadline:
            return False
        if shell.unread == 0:
            shell.send(shell.lines.report("Y", token))
        await wait(step)
    return False


def _children(pid: int) -> set[int]:
    try:
        return {int(child) for child in read_proc(f"{pid}/task/{pid}/children").split()}
    except OSError:  # the kernel doesn't provide this file; rely on start times only
        return set()
