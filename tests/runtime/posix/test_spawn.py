"""Programs start as from a login: their own session and terminal, default signals, nothing of ours open."""

import asyncio
import errno
import os
import signal
import sys
import termios
from collections.abc import Iterator
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.posix.spawn import ARGV_LIMIT, default_shell, keep_descriptors, set_size, spawn_pipes, spawn_pty
from tests.support.runtime import Client, Served, no_fd_leaked

ROOT = Path(__file__).resolve().parents[2]
ENV = {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


@pytest.fixture(autouse=True)
def _no_fd_left(request: pytest.FixtureRequest) -> Iterator[None]:
    if "served" in request.fixturenames:
        yield  # the event loop opens its own pipes for subprocesses
    else:
        with no_fd_leaked():
            yield


def on_pty(script: str, cols: int = 80, rows: int = 24) -> str:
    """Return the complete output of a Python script on a terminal."""
    pid, master = spawn_pty([sys.executable, "-c", script], env=ENV, cwd="/", cols=cols, rows=rows)
    os.set_blocking(master, True)
    out = b""
    while part := _read(master):
        out += part
    os.waitpid(pid, 0)
    os.close(master)
    return out.decode().replace("\r\n", "\n")


def on_pipes(argv: list[str], *, cwd: str = "/", stdin: bytes | None = None) -> tuple[bytes, bytes, int]:
    pid, into, out, err = spawn_pipes(argv, env=ENV, cwd=cwd, stdin=stdin is not None)
    if into is not None:
        os.write(into, stdin or b"")
        os.close(into)
    results = []
    for fd in (out, err):
        os.set_blocking(fd, True)
        with open(fd, "rb") as file:
            results.append(file.read())
    return results[0], results[1], os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def _read(fd: int) -> bytes:
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""


def test_a_program_leads_its_session_and_the_pty_is_its_controlling_terminal() -> None:
    out = on_pty(
        "import os\n"
        "fd = os.open('/dev/tty', os.O_RDWR)\n"
        "print(os.getsid(0) == os.getpid(), os.tcgetpgrp(fd) == os.getpgrp())\n"
        "print(os.isatty(0), os.isatty(1), os.isatty(2))\n"
        "print(os.ttyname(0) == os.ttyname(1) == os.ttyname(2), os.get_terminal_size(0))",
        cols=132,
        rows=43,
    )
    assert out == "True True\nTrue True True\nTrue os.terminal_size(columns=132, lines=43)\n"


FDS = "import os; print([fd for fd in range(256) if os.path.exists(f'/proc/self/fd/{fd}')])"


def test_a_program_inherits_no_descriptors_of_the_runtime() -> None:
    reader, writer = os.pipe()
    os.set_inheritable(reader, True)
    keep_descriptors()
    try:
        assert on_pty(FDS) == "[0, 1, 2]\n"
        assert on_pipes([sys.executable, "-c", FDS], stdin=b"")[0] == b"[0, 1, 2]\n"
        assert on_pipes([sys.executable, "-c", FDS])[0] == b"[0, 1, 2]\n"
    finally:
        os.close(reader)
        os.close(writer)


def test_stdin_is_dev_null_by_default() -> None:
    assert on_pipes(["sh", "-c", "readlink /proc/self/fd/0; cat; echo err >&2; exit 3"]) == (
        b"/dev/null\n",
        b"err\n",
        3,
    )
    assert on_pipes(["cat"], stdin=b"hello") == (b"hello", b"", 0)


SIGNALS = "import signal; print([s.name for s in signal.Signals if signal.getsignal(s) == signal.SIG_IGN])"


def test_signals_are_at_default_and_unblocked_whatever_ours_are() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
    try:
        # Python itself ignores two at its start.
        assert on_pipes([sys.executable, "-c", SIGNALS])[0] == b"['SIGPIPE', 'SIGXFSZ']\n"
        assert on_pipes(["sh", "-c", "kill -INT $$"])[2] == -signal.SIGINT
        assert on_pipes(["sh", "-c", "kill -TERM $$; sleep 5"])[2] == -signal.SIGTERM
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("on", ["pty", "pipes"])
@pytest.mark.parametrize(
    ("argv", "cwd", "code"),
    [
        (["no-such-program"], "/", "spawn_failed"),
        (["./no-such-program"], "/", "spawn_failed"),
        ([""], "/", "spawn_failed"),
        (["/etc/passwd"], "/", "spawn_failed"),
        (["/etc"], "/", "spawn_failed"),
        (["true"], "/no/such/directory", "spawn_failed"),
        (["true"], "/etc/passwd", "spawn_failed"),
        (["true", "a\0b"], "/", "invalid_params"),
        (["true"], "/\0", "invalid_params"),
        (["true", "x" * (ARGV_LIMIT + 1)], "/", "too_large"),
    ],
)
def test_a_program_that_cannot_be_started_is_a_typed_error(on: str, argv: list[str], cwd: str, code: str) -> None:
    here = os.getcwd()
    with pytest.raises(HawseError) as refused:
        if on == "pty":
            spawn_pty(argv, env=ENV, cwd=cwd, cols=80, rows=24)
        else:
            spawn_pipes(argv, env=ENV, cwd=cwd, stdin=True)
    assert refused.value.code == code
    assert refused.value.admitted == "no"
    assert os.getcwd() == here


def test_an_executable_of_no_known_format_is_a_typed_error(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELFnot really")
    program.chmod(0o755)
    with pytest.raises(HawseError, match="spawn_failed"):
        spawn_pipes([str(program)], env=ENV, cwd="/", stdin=False)


def test_programs_are_found_in_their_own_path_and_directory(tmp_path: Path) -> None:
    program = tmp_path / "mine"
    program.write_text("#!/bin/sh\npwd\n")
    program.chmod(0o755)
    assert on_pipes(["./mine"], cwd=str(tmp_path))[0].decode() == f"{tmp_path}\n"
    pid, _, out, err = spawn_pipes(["mine"], env={"PATH": str(tmp_path)}, cwd="/", stdin=False)
    os.waitpid(pid, 0)
    assert os.read(out, 100) == b"/\n"
    os.close(out)
    os.close(err)


def test_no_more_descriptors_is_a_typed_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left() -> tuple[int, int]:
        raise OSError(24, "Too many open files")

    monkeypatch.setattr(os, "openpty", none_left)
    with pytest.raises(HawseError, match="limit_exceeded"):
        spawn_pty(["true"], env=ENV, cwd="/", cols=80, rows=24)
    monkeypatch.setattr(os, "pipe", none_left)
    with pytest.raises(HawseError, match="limit_exceeded"):
        spawn_pipes(["true"], env=ENV, cwd="/", stdin=True)


def test_no_more_processes_is_an_error_that_says_how_to_get_some(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_left(*_: object, **__: object) -> int:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    monkeypatch.setattr(os, "posix_spawn", none_left)
    with pytest.raises(HawseError, match=r"limits\.processes.*`sandbox\.stop` and `sandbox\.start`") as raised:
        spawn_pty(["true"], env=ENV, cwd="/", cols=80, rows=24)
    assert raised.value.code == "limit_exceeded"


def test_a_size_is_set() -> None:
    master, slave = os.openpty()
    set_size(master, 100, 40)
    assert termios.tcgetwinsize(slave) == (40, 100)
    os.close(master)
    os.close(slave)


def test_the_users_shell_is_taken_if_it_is_one() -> None:
    assert default_shell({"SHELL": "/bin/sh"}) == "/bin/sh"
    assert default_shell({"SHELL": "/no/such/shell"}) in ("/bin/bash", "/usr/bin/bash", "/bin/sh")
    assert default_shell({}) in ("/bin/bash", "/usr/bin/bash", "/bin/sh")


async def test_ctrl_c_works_also_when_the_runtime_was_started_in_the_background(served: Served) -> None:
    """A shell's `&` starts the runtime with SIGINT and SIGQUIT ignored, nohup with SIGHUP."""
    socket = served.socket.with_name("other")
    start = f"{sys.executable} -m hawse_runtime --socket {socket} --workspace {served.workspace}"
    command = f"(trap '' INT QUIT HUP; exec {start}) & echo $!; wait"
    process = await asyncio.create_subprocess_exec(
        "sh", "-c", command, cwd=ROOT, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    pid = int(await process.stdout.readline())
    try:
        client = await Client().connect(socket)
        shell = await client.terminal("echo started; exec sleep 60")
        await shell.seen(b"started\r\n")
        shell.send(b"\x03")
        assert (await shell.result())["exit"] == {"code": None, "signal": "SIGINT", "timed_out": False, "oom": None}
        ignored = client.execute("exec cat /proc/self/status")
        await ignored.result()
        assert _ignored(ignored.output.decode()) == set()
        await client.cut()
    finally:
        os.kill(pid, signal.SIGTERM)
        await process.communicate()
        socket.with_name("runtime.lock").unlink(missing_ok=True)
    assert not socket.exists()


def _ignored(status: str) -> set[str]:
    """The signals that a process ignores, of its /proc/PID/status."""
    (line,) = (line for line in status.splitlines() if line.startswith("SigIgn"))
    mask = int(line.split()[1], 16)
    return {s.name for s in signal.Signals if mask >> (s - 1) & 1}


def test_without_a_free_pty_the_limit_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """W8: it was `io_error`. The error of the kernel is ENOSPC, which means a full disk elsewhere."""

    def openpty() -> tuple[int, int]:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "openpty", openpty)
    with pytest.raises(HawseError, match="limit_exceeded: cannot open a PTY"):
        on_pty("pass")
