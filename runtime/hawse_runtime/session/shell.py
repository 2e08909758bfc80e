"""A session's shell process, with one pipe for its input and one for its status reports.

Both are named pipes in a private directory. Commands inherit neither: the shell reopens the status pipe for each
message, and doesn't pass its own stdin to the programs it starts.
"""

import fcntl
import os
import signal
import termios
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from hawse.api.types import Exit
from hawse_runtime.posix.child import adopt
from hawse_runtime.posix.fd_streams import FdReader, FdWriter
from hawse_runtime.posix.proc import read_link
from hawse_runtime.posix.spawn import spawn_reading
from hawse_runtime.session.shell_script import ShellScript, argv

MESSAGE_LIMIT = 4096  # maximum size of a message on the status pipe, in bytes; the shell writes only short lines


class ShellOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Options for starting a session's shell."""

    path: str  # the path of the shell
    folder: Path  # a private directory for the two pipes
    cwd: str  # the initial working directory
    env: Mapping[str, str]  # the complete environment


class Shell:
    """A shell, from its start until it has been reaped."""

    def __init__(
        self,
        options: ShellOptions,
        *,
        on_message: Callable[[str, str, str], None],
        on_exit: Callable[[Exit], None],
    ) -> None:
        """Start the shell.

        Args:
            options: The program, its pipes, its directory and its environment.
            on_message: Called with each message's kind, token and value.
            on_exit: Called once, when the shell has ended.

        Raises:
            HawseError: `spawn_failed` or `limit_exceeded`.
            OSError: The pipes can't be created.
        """
        folder = options.folder
        self.lines = ShellScript(options.path, str(folder))
        (folder / "show").write_text(self.lines.show())
        (folder / "hide").write_text(self.lines.hide())
        self.exit: Exit | None = None
        self._on_message = on_message
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
            pid = spawn_reading(argv(options.path), env=options.env, cwd=options.cwd, stdin=str(folder / "control"))
        except BaseException:
            os.close(control)
            os.close(status)
            raise
        self._child = adopt(pid, self._exited, control, status)
        self._outlet = FdWriter(control, owned=True)
        self._inlet = FdReader(status, self._receive)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def own_pid(self) -> int:
        """The shell's pid in its own PID namespace, which is the value of `$$`."""
        return self._child.own_pid

    @property
    def unread(self) -> int:
        """The number of unread bytes in the shell's input: 0 while the shell is idle or running the last line."""
        if self._outlet.closed:
            return 0
        return int.from_bytes(fcntl.ioctl(self._control, termios.FIONREAD, bytes(4)), "little")

    def send(self, text: str) -> None:
        """Send lines for the shell to run."""
        self._outlet.write(text.encode())

    def signal(self, signum: int) -> None:
        """Send a signal, followed by SIGCONT, to the shell only."""
        if self.exit is None:
            os.kill(self.pid, signum)
            os.kill(self.pid, signal.SIGCONT)

    def cwd(self) -> str:
        return read_link(f"{self.pid}/cwd")

    def _receive(self, data: bytes) -> None:
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest[-MESSAGE_LIMIT:]
        for line in lines:
            kind, _, tail = line.decode(errors="replace").partition(" ")
            token, _, value = tail.partition(" ")
            self._on_message(kind, token, value)

    def _exited(self, result: Exit) -> None:
        self._inlet.drain(MESSAGE_LIMIT)
        self.exit = result
        self._inlet.close()
        self._outlet.close()
        self._on_exit(result)


def _pipe(path: Path) -> int:
    """Create a named pipe and open both ends, so that the shell doesn't block on opening it or read EOF."""
    os.mkfifo(path, 0o600)
    return os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
