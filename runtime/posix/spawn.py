"""Starts programs, on a PTY or on pipes, with `posix_spawn`: no Python code runs between fork and exec.

Why not ptyprocess: docs/decisions/0001-start-programs-with-posix-spawn.md. All signals have their default action in
the child, whatever actions the runtime itself inherited (a shell's `&` makes SIGINT ignored).
"""

import errno
import fcntl
import os
import shutil
import signal
import struct
import termios
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from hawse.wire.errors import HawseError

ALL_SIGNALS = [s for s in signal.valid_signals() if s not in (signal.SIGKILL, signal.SIGSTOP)]
ARGV_LIMIT = 128 << 10  # bytes: what describes a program has to fit into a control message, however it is escaped
EXTRA_FD = 3
DEFAULT_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")


class Pipes(NamedTuple):
    """A started program and our ends of its pipes (non-blocking); `stdin` is None for /dev/null."""

    pid: int
    stdin: int | None
    stdout: int
    stderr: int


def keep_descriptors() -> None:
    """Set the descriptors that this process inherited to close-on-exec, so that no program gets them. At start only."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with suppress(OSError):  # that of the listing itself
                os.set_inheritable(int(name), False)


def set_size(fd: int, cols: int, rows: int) -> None:
    """Set the size of the terminal behind `fd`; its foreground programs get SIGWINCH (ioctl_tty(2))."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def default_shell(env: Mapping[str, str]) -> str:
    candidates = (env.get("SHELL", ""), *DEFAULT_SHELLS)
    return next(shell for shell in candidates if shell and os.access(shell, os.X_OK))


def spawn_pty(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, cols: int, rows: int) -> tuple[int, int]:
    """Start `argv` as leader of a new session on a new PTY; return (pid, master fd, non-blocking).

    Raises `spawn_failed` (no such program or directory, not executable) and `limit_exceeded` (no more PTYs).
    """
    try:
        master, slave = os.openpty()
    except OSError as error:
        raise HawseError("limit_exceeded", f"no PTY: {error.strerror}") from None
    try:
        set_size(master, cols, rows)
        os.set_blocking(master, False)
        # A session leader without a terminal gets the first one it opens as its controlling terminal.
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.ttyname(slave), os.O_RDWR, 0),
            (os.POSIX_SPAWN_DUP2, 0, 1),
            (os.POSIX_SPAWN_DUP2, 0, 2),
        ]
        return _spawn(argv, env, cwd, actions), master
    except BaseException:
        os.close(master)
        raise
    finally:
        os.close(slave)


def spawn_pipes(
    argv: Sequence[str], *, env: Mapping[str, str], cwd: str, stdin: bool, extra: int | None = None
) -> Pipes:
    """Start `argv` as leader of a new session with pipes. Raises as `spawn_pty` does.

    `extra`: a descriptor that the program gets as its EXTRA_FD. It stays ours to close.
    """
    opened: list[int] = []
    try:
        out, err = _pipe(opened), _pipe(opened)
        into = _pipe(opened) if stdin else None
        actions: list[tuple[int, ...] | tuple[int, int, str, int, int]] = [
            (os.POSIX_SPAWN_DUP2, into[0], 0) if into else (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_DUP2, out[1], 1),
            (os.POSIX_SPAWN_DUP2, err[1], 2),
        ]
        if extra is not None:
            actions.append((os.POSIX_SPAWN_DUP2, extra, EXTRA_FD))  # last: by now nothing of ours there is needed
        pid = _spawn(argv, env, cwd, actions)
        ours = [out[0], err[0], *([into[1]] if into else [])]
        for fd in ours:
            opened.remove(fd)
            os.set_blocking(fd, False)
        return Pipes(pid, into[1] if into else None, out[0], err[0])
    except OSError as error:
        raise HawseError("limit_exceeded", f"no pipe: {error.strerror}") from None
    finally:
        for fd in opened:
            os.close(fd)


def spawn_reading(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, stdin: str) -> int:
    """Start `argv` as leader of a new session that reads the file `stdin` and prints to nowhere; return its pid."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return _spawn(argv, env, cwd, actions)


def _pipe(opened: list[int]) -> tuple[int, int]:
    pair = os.pipe()
    opened += pair
    return pair


def _spawn(argv: Sequence[str], env: Mapping[str, str], cwd: str, actions: Sequence[object]) -> int:
    if any("\0" in text for text in (*argv, *env, *env.values(), cwd)):
        raise HawseError("invalid_params", "argv, env and cwd must not contain NUL bytes")
    if sum(len(os.fsencode(argument)) for argument in argv) > ARGV_LIMIT:
        raise HawseError("too_large", f"argv has more than {ARGV_LIMIT} bytes")
    with _directory(cwd):
        program = shutil.which(argv[0], path=env.get("PATH", os.defpath))
        if program is None:
            raise HawseError("spawn_failed", f"no such program: {argv[0]}")
        try:
            return os.posix_spawn(
                program,
                list(argv),
                dict(env),
                file_actions=actions,  # type: ignore[arg-type]
                setsid=True,
                setsigmask=[],
                setsigdef=ALL_SIGNALS,
            )
        except OSError as error:
            code = "limit_exceeded" if error.errno in (errno.EAGAIN, errno.ENOMEM) else "spawn_failed"
            raise HawseError(code, f"{program}: {error.strerror}") from None


@contextmanager
def _directory(cwd: str) -> Iterator[None]:
    """Be in `cwd` for a moment, since posix_spawn cannot change directory itself.

    The event loop's thread never yields here, and what runs in other threads uses absolute paths only.
    """
    here = os.open(".", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            os.chdir(cwd)
        except OSError as error:
            raise HawseError("spawn_failed", f"{cwd}: {error.strerror}") from None
        yield
    finally:
        os.fchdir(here)
        os.close(here)
