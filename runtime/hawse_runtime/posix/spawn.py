"""Starts programs, on a PTY or on pipes, with `posix_spawn`: no Python code runs between fork and exec.

Why not ptyprocess: docs/decisions/0001-start-programs-with-posix-spawn.md. All signals have their default action in
the child, regardless of the actions inherited by the runtime (a shell's `&` makes SIGINT ignored).
"""

import errno
import fcntl
import os
import signal
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import NamedTuple

from hawse.wire.errors import HawseError
from hawse_runtime.posix.proc import list_proc, open_proc
from hawse_runtime.posix.spawn_thread import SpawnThread

ALL_SIGNALS = [s for s in signal.valid_signals() if s not in (signal.SIGKILL, signal.SIGSTOP)]
ARGV_LIMIT = 128 << 10  # bytes: a program's description must fit into a control message, however it is escaped
EXTRA_FD = 3
NO_PROCESS = (
    "cannot start a process: the sandbox (`limits.processes`) or its user on the machine has reached its limit. "
    "End some of them, or all with `sandbox.stop` and `sandbox.start`"
)
TIOCGPTN = 0x80045430  # ioctl_tty(2): the number of a PTY; os.ttyname needs a /proc that contains this process
OOM_SCORE = 200  # of 1000, added to a program's memory use: it is killed before a runtime, whose value is at most 0
OOM_ATTEMPTS = 20  # to write the score
OOM_PAUSE = 0.0001  # seconds between attempts
DEFAULT_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")


class _Spawning:
    thread: SpawnThread | None = None  # the thread that starts programs; None: the caller's
    cgroups: tuple[int, ...] = ()
    wrapper: Sequence[str] = ()  # the command that starts programs; empty: start them directly
    numbered: bool = False  # whether programs have a separate PID namespace


class Pipes(NamedTuple):
    """A started program and the runtime's ends of its pipes (non-blocking); `stdin` is None for /dev/null."""

    pid: int
    stdin: int | None
    stdout: int
    stderr: int


def keep_descriptors() -> None:
    """Set inherited descriptors to close-on-exec, so that programs do not get them. Call it only at start-up."""
    for name in list_proc("self/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the descriptor of the listing itself
                os.set_inheritable(int(name), False)


def spawn_in(
    thread: SpawnThread, cgroups: tuple[int, ...] = (), *, wrapper: Sequence[str] = (), numbered: bool = True
) -> None:
    """Start all future programs in a thread, so that they inherit its namespaces, filters, groups and keyring.

    Args:
        thread: The thread.
        cgroups: Descriptors of `cgroup.procs`; each program is moved into these cgroups after its start.
        wrapper: A command that executes the arguments appended to it; empty: start programs directly.
        numbered: Whether the thread starts programs in a separate PID namespace.
    """
    _Spawning.thread = thread
    _Spawning.cgroups = cgroups
    _Spawning.wrapper = wrapper
    _Spawning.numbered = numbered


def is_separated() -> bool:
    """Return whether programs run in a separate PID namespace, where they have different pids."""
    return _Spawning.numbered


def set_size(fd: int, cols: int, rows: int) -> None:
    """Set the size of the terminal behind `fd`; its foreground programs get SIGWINCH (ioctl_tty(2))."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def default_shell(env: Mapping[str, str]) -> str:
    candidates = (env.get("SHELL", ""), *DEFAULT_SHELLS)
    return next((shell for shell in candidates if shell and os.access(shell, os.X_OK, effective_ids=True)), "/bin/sh")


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
            (os.POSIX_SPAWN_OPEN, 0, _name_of_pty(master), os.O_RDWR, 0),
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
    """Start `argv` as leader of a new session with pipes. Raises the same errors as `spawn_pty`.

    `extra`: a descriptor to pass as EXTRA_FD. The caller closes it.
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
            actions.append((os.POSIX_SPAWN_DUP2, extra, EXTRA_FD))  # last: it may replace one used above
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
    """Start `argv` as leader of a new session, with the file `stdin` as stdin and without output; return its pid."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return _spawn(argv, env, cwd, actions)


def spawn_own(argv: Sequence[str], *, extra: int) -> int:
    """Start a part of the runtime as the runtime's user, in its namespaces, hidden from programs. Return its pid.

    Its environment is only PATH, and its descriptors are /dev/null, stderr, and `extra` as EXTRA_FD.

    Raises:
        HawseError: The same errors as in `spawn_pty`.
    """
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, extra, EXTRA_FD),
    ]
    try:
        return os.posix_spawn(
            *(argv[0], list(argv), {"PATH": os.environ.get("PATH", os.defpath)}),
            file_actions=actions,
            setsid=True,
            setsigmask=[],
            setsigdef=ALL_SIGNALS,
        )
    except OSError as error:
        raise _not_started(argv[0], error) from None


def _name_of_pty(master: int) -> str:
    return f"/dev/pts/{struct.unpack('i', fcntl.ioctl(master, TIOCGPTN, bytes(4)))[0]}"


def _pipe(opened: list[int]) -> tuple[int, int]:
    pair = os.pipe()
    opened += pair
    return pair


def _spawn(argv: Sequence[str], env: Mapping[str, str], cwd: str, actions: Sequence[object]) -> int:
    if any("\0" in text for text in (*argv, *env, *env.values(), cwd)):
        raise HawseError("invalid_params", "argv, env and cwd must not contain NUL bytes")
    if sum(len(os.fsencode(argument)) for argument in argv) > ARGV_LIMIT:
        raise HawseError("too_large", f"argv has more than {ARGV_LIMIT} bytes")
    if _Spawning.thread is None:
        return _spawn_here(argv, env, cwd, actions)
    pid = _Spawning.thread.run(lambda: _spawn_here(argv, env, cwd, actions))
    for fd in _Spawning.cgroups:
        with suppress(OSError):  # it has ended
            os.write(fd, b"%d" % pid)
    _prefer_for_oom(pid)
    return pid


def _spawn_here(argv: Sequence[str], env: Mapping[str, str], cwd: str, actions: Sequence[object]) -> int:
    with _directory(cwd):
        program = find_program(argv[0], env.get("PATH", os.defpath))
        if program is None:
            raise HawseError("spawn_failed", f"no such program: {argv[0]}")
        try:
            return os.posix_spawn(
                _Spawning.wrapper[0] if _Spawning.wrapper else program,
                [*_Spawning.wrapper, *argv],
                dict(env),
                file_actions=actions,  # type: ignore[arg-type]
                setsid=True,
                setsigmask=[],
                setsigdef=ALL_SIGNALS,
            )
        except OSError as error:
            raise _not_started(program, error) from None


def _not_started(program: str, error: OSError) -> HawseError:
    if error.errno == errno.EAGAIN:
        return HawseError("limit_exceeded", f"{program}: {NO_PROCESS}")
    code = "limit_exceeded" if error.errno == errno.ENOMEM else "spawn_failed"
    return HawseError(code, f"{program}: {error.strerror}")


def find_program(program: str, path: str) -> str | None:
    """Find a program's path like execvp(3). Return None if the programs' user cannot execute any.

    Args:
        program: Its name or path.
        path: The directories to search, separated by colons.
    """
    folders = [""] if "/" in program else path.split(":")
    for candidate in (os.path.join(folder, program) for folder in folders):
        # Not shutil.which: it checks the real user, which differs from the programs' user if users are separated.
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK, effective_ids=True):
            return candidate
    return None


def _prefer_for_oom(pid: int) -> None:
    """Let the kernel kill this program rather than the runtime when memory is short (proc(5), oom_score_adj).

    For an instant after the start, the file belongs to root: execve(2) wakes the parent before it allows dumps.
    """
    for _ in range(OOM_ATTEMPTS):
        try:
            fd = open_proc(f"{pid}/oom_score_adj", os.O_WRONLY)
        except PermissionError:
            time.sleep(OOM_PAUSE)
            continue
        except OSError:
            return  # it has ended
        with suppress(OSError):
            os.write(fd, b"%d" % OOM_SCORE)
        os.close(fd)
        return


@contextmanager
def _directory(cwd: str) -> Iterator[None]:
    """Change the working directory during the `with` block, because posix_spawn cannot do it in the child.

    The event loop is blocked in the meantime, and other threads use absolute paths only.
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
