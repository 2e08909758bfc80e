"""Starts programs on a PTY or on pipes with `posix_spawn`, which runs no Python code between fork and exec.

docs/decisions/0001-start-programs-with-posix-spawn.md explains why ptyprocess is not used. In the child, all signals
have their default action, even if the runtime inherited a different one (a shell's `&` makes it ignore SIGINT).
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
ARGV_LIMIT = 128 << 10  # maximum size of an argv in bytes; even when escaped, it fits into a control message
EXTRA_FD = 3
NO_PROCESS = (
    "cannot start a process: the sandbox (`limits.processes`) or its user on the machine has reached its limit. "
    "End some processes, or restart the sandbox with `sandbox.stop` and `sandbox.start`"
)
TIOCGPTN = 0x80045430  # gets a PTY's number (ioctl_tty(2)); os.ttyname needs a /proc that contains this process
OOM_SCORE = 200  # added to a program's OOM score (up to 1000); a runtime has at most 0, so the program is killed first
OOM_ATTEMPTS = 20  # maximum number of attempts to write the score
OOM_PAUSE = 0.0001  # seconds between attempts
DEFAULT_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")


class _Spawning:
    thread: SpawnThread | None = None  # the thread that starts programs; None means the calling thread
    cgroups: tuple[int, ...] = ()
    wrapper: Sequence[str] = ()  # a command for starting programs; if empty, they are started directly
    numbered: bool = False  # whether programs run in a separate PID namespace


class Pipes(NamedTuple):
    """A running program and the runtime's non-blocking ends of its pipes. `stdin` is None for /dev/null."""

    pid: int
    stdin: int | None
    stdout: int
    stderr: int


def keep_descriptors() -> None:
    """Mark inherited descriptors as close-on-exec, so that programs don't get them. Call this only at startup."""
    for name in list_proc("self/fd"):
        if int(name) > 2:
            with suppress(OSError):  # the descriptor used to list the directory is already closed
                os.set_inheritable(int(name), False)


def spawn_in(
    thread: SpawnThread, cgroups: tuple[int, ...] = (), *, wrapper: Sequence[str] = (), numbered: bool = True
) -> None:
    """Set the thread that starts all programs. They inherit its namespaces, filters, groups and keyring.

    Args:
        thread: The thread.
        cgroups: Descriptors of `cgroup.procs` files. Each program joins these cgroups once started.
        wrapper: A command that runs the arguments appended to it. If empty, programs are started directly.
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
    """Set the size of the terminal behind `fd`. The kernel then sends SIGWINCH to its foreground programs."""
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))


def default_shell(env: Mapping[str, str]) -> str:
    candidates = (env.get("SHELL", ""), *DEFAULT_SHELLS)
    return next((shell for shell in candidates if shell and os.access(shell, os.X_OK, effective_ids=True)), "/bin/sh")


def spawn_pty(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, cols: int, rows: int) -> tuple[int, int]:
    """Start `argv` as the leader of a new session on a new PTY. Return its pid and the non-blocking master fd.

    Raises `spawn_failed` if the program or directory is not found or not executable, or `limit_exceeded` if no PTY is
    left.
    """
    try:
        master, slave = os.openpty()
    except OSError as error:
        raise HawseError("limit_exceeded", f"cannot open a PTY: {error.strerror}") from None
    try:
        set_size(master, cols, rows)
        os.set_blocking(master, False)
        # A session leader without a terminal: the first terminal that it opens becomes its controlling terminal.
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, name_of_pty(master), os.O_RDWR, 0),
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
    """Start `argv` as the leader of a new session with pipes. Raises the same errors as `spawn_pty`.

    `extra` is a descriptor passed to the program as EXTRA_FD. The caller must close it.
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
            # This must come last, because it may overwrite a descriptor in use.
            actions.append((os.POSIX_SPAWN_DUP2, extra, EXTRA_FD))
        pid = _spawn(argv, env, cwd, actions)
        ours = [out[0], err[0], *([into[1]] if into else [])]
        for fd in ours:
            opened.remove(fd)
            os.set_blocking(fd, False)
        return Pipes(pid, into[1] if into else None, out[0], err[0])
    except OSError as error:
        raise HawseError("limit_exceeded", f"cannot open a pipe: {error.strerror}") from None
    finally:
        for fd in opened:
            os.close(fd)


def spawn_reading(argv: Sequence[str], *, env: Mapping[str, str], cwd: str, stdin: str) -> int:
    """Start `argv` as the leader of a new session, with the file `stdin` as input and no output. Return its pid."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, 1, 2),
    ]
    return _spawn(argv, env, cwd, actions)


def spawn_own(argv: Sequence[str], *, extra: int) -> int:
    """Start a helper process for the runtime, as its user and in its namespaces, hidden from programs. Return the pid.

    Its environment contains only PATH. Its descriptors are /dev/null, stderr, and `extra` as EXTRA_FD.

    Raises:
        HawseError: The same errors as `spawn_pty`.
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


def name_of_pty(master: int) -> str:
    """Return the path of the device behind a PTY's master side. Raises `OSError`."""
    return f"/dev/pts/{struct.unpack('i', fcntl.ioctl(master, TIOCGPTN, bytes(4)))[0]}"


def _pipe(opened: list[int]) -> tuple[int, int]:
    pair = os.pipe()
    opened += pair
    return pair


def _spawn(argv: Sequence[str], env: Mapping[str, str], cwd: str, actions: Sequence[object]) -> int:
    if any("\0" in text for text in (*argv, *env, *env.values(), cwd)):
        raise HawseError("invalid_params", "argv, env and cwd must not contain NUL bytes")
    if sum(len(os.fsencode(argument)) for argument in argv) > ARGV_LIMIT:
        raise HawseError("too_large", f"argv must not exceed {ARGV_LIMIT} bytes")
    if _Spawning.thread is None:
        return _spawn_here(argv, env, cwd, actions)
    pid = _Spawning.thread.run(lambda: _spawn_here(argv, env, cwd, actions))
    for fd in _Spawning.cgroups:
        with suppress(OSError):  # the program has ended
            os.write(fd, b"%d" % pid)
    _prefer_for_oom(pid)
    return pid


def _spawn_here(argv: Sequence[str], env: Mapping[str, str], cwd: str, actions: Sequence[object]) -> int:
    with _directory(cwd):
        program = find_program(argv[0], env.get("PATH", os.defpath))
        if program is None:
            raise HawseError("spawn_failed", f"program not found: {argv[0]}")
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
    """Find a program the way execvp(3) does. Return None if the user that programs run as can't execute it.

    Args:
        program: The program's name or path.
        path: The directories to search, separated by colons.
    """
    folders = [""] if "/" in program else path.split(":")
    for candidate in (os.path.join(folder, program) for folder in folders):
        # shutil.which checks the real user's access. If users are separated, programs run as a different user.
        if os.path.isfile(candidate) and os.access(candidate, os.X_OK, effective_ids=True):
            return candidate
    return None


def _prefer_for_oom(pid: int) -> None:
    """Make the kernel kill this program rather than the runtime if memory runs out (proc(5), oom_score_adj).

    Retries may be needed: the file belongs to root until execve(2) allows dumps, which it does only after it has woken
    the parent.
    """
    for _ in range(OOM_ATTEMPTS):
        try:
            fd = open_proc(f"{pid}/oom_score_adj", os.O_WRONLY)
        except PermissionError:
            time.sleep(OOM_PAUSE)
            continue
        except OSError:
            return  # the program has ended
        with suppress(OSError):
            os.write(fd, b"%d" % OOM_SCORE)
        os.close(fd)
        return


@contextmanager
def _directory(cwd: str) -> Iterator[None]:
    """Change the working directory during the `with` block, because posix_spawn can't set the child's.

    The block runs on the event loop without awaiting, and other threads use only absolute paths.
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
