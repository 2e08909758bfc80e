"""Waits for a child process with a pidfd (pidfd_open(2)), which requires no SIGCHLD, polling or thread."""

import asyncio
import os
import signal
from collections.abc import Callable

from hawse.api.types import Exit
from hawse.wire import HawseError
from hawse_runtime.posix.proc import own_pid
from hawse_runtime.posix.spawn import is_separated


class Child:
    """A running program. The event loop calls `on_exit` once, after the program has exited and been reaped."""

    def __init__(self, pid: int, on_exit: Callable[[Exit], None]) -> None:
        self.pid = pid
        self.own_pid = own_pid(pid) if is_separated() else pid  # the program's pid in its own PID namespace
        self.exit: Exit | None = None
        self._on_exit: Callable[[Exit], None] | None = on_exit
        self._pidfd = os.pidfd_open(pid)
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._pidfd, self._reap)

    def signal_group(self, signum: int, group: int | None = None) -> None:
        """Signal a process group, by default the program's. Must not be called once the program has been reaped."""
        try:
            os.killpg(group or self.pid, signum)
        except ProcessLookupError:
            pass  # the group is empty

    def _reap(self) -> None:
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            return
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        code = os.waitstatus_to_exitcode(status)
        self.exit = Exit(code=code) if code >= 0 else Exit(signal=signal_name(-code))
        on_exit, self._on_exit = self._on_exit, None
        if on_exit is not None:
            on_exit(self.exit)


def adopt(pid: int, on_exit: Callable[[Exit], None], *fds: int) -> Child:
    """Return the `Child` for a program that has just started. If no descriptor is free, kill it and close `fds`."""
    try:
        return Child(pid, on_exit)
    except OSError as error:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        for fd in fds:
            os.close(fd)
        raise HawseError("limit_exceeded", f"cannot open a descriptor: {error.strerror}") from None


def signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"SIG{number}"  # a real-time signal
