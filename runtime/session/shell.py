"""A session's shell as a process: its control pipe, and the pipe on which it says how far it is.

Both are named pipes in a folder that only we and the shell know. Its commands inherit neither: the shell opens the
status pipe for each word, and keeps the other where programs that it starts do not get it.
"""

import fcntl
import os
import signal
import termios
from collections.abc import Callable, Mapping
from pathlib import Path

from hawse.api.types import Exit
from runtime.posix.child import adopt
from runtime.posix.fd_streams import FdReader, FdWriter
from runtime.posix.spawn import spawn_reading
from runtime.session.shell_script import ShellScript, argv

WORD_LIMIT = 4096  # bytes of a line on the status pipe: only the shell writes there, and only short ones


class Shell:
    """One shell, from its start until it has been reaped. `told` gets the words, tokens and values it says."""

    def __init__(
        self,
        path: str,
        folder: Path,
        *,
        cwd: str,
        env: Mapping[str, str],
        told: Callable[[str, str, str], None],
        on_exit: Callable[[Exit], None],
    ) -> None:
        """Raises `spawn_failed`, `limit_exceeded`, `OSError`."""
        self.lines = ShellScript(path, str(folder / "status"))
        self.exit: Exit | None = None
        self._told = told
        self._on_exit = on_exit
        self._rest = b""
        control = _pipe(folder / "control")
        try:
            status = _pipe(folder / "status")
        except BaseException:
            os.close(control)
            raise
        self._control = control
        try:
            pid = spawn_reading(argv(path), env=env, cwd=cwd, stdin=str(folder / "control"))
        except BaseException:
            os.close(control)
            os.close(status)
            raise
        self._child = adopt(pid, self._exited, control, status)
        self._outlet = FdWriter(control, owned=True)
        self._inlet = FdReader(status, self._said, _nothing, _nothing)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def unread(self) -> int:
        """Bytes of what it was told that it has not read: none while it runs what was said last, or is idle."""
        if self._outlet.closed:
            return 0
        return int.from_bytes(fcntl.ioctl(self._control, termios.FIONREAD, bytes(4)), "little")

    def say(self, text: str) -> None:
        self._outlet.write(text.encode())

    def signal(self, signum: int) -> None:
        """To the shell alone, which is continued as well."""
        if self.exit is None:
            os.kill(self.pid, signum)
            os.kill(self.pid, signal.SIGCONT)

    def cwd(self) -> str:
        return os.readlink(f"/proc/{self.pid}/cwd")

    def _said(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-WORD_LIMIT:]
        for line in lines:
            word, _, tail = line.decode(errors="replace").partition(" ")
            token, _, value = tail.partition(" ")
            self._told(word, token, value)

    def _exited(self, result: Exit) -> None:
        self._inlet.drain(WORD_LIMIT)
        self.exit = result
        self._inlet.close()
        self._outlet.close()
        self._on_exit(result)


def _pipe(path: Path) -> int:
    """A named pipe that we have open both ways, so that nobody ever waits to open it, or sees its end."""
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)


def _nothing() -> None:
    pass
