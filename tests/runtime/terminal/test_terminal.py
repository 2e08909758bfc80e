"""A terminal: sizes by offset, the screen, answers to queries, signals, and the exit."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.journal.journal import Journal
from hawse_runtime.posix import child as reaper
from hawse_runtime.screen import size_history as marks
from hawse_runtime.screen.size_history import SizeMark
from hawse_runtime.screen.snapshot_cache import CachedSnapshot, SnapshotCache
from hawse_runtime.terminal.options import TerminalOptions
from hawse_runtime.terminal.terminal import Terminal
from tests.support import terminals
from tests.support.local_screens import LocalScreens
from tests.support.runtime import children, eventually, no_fd_leaked

Start = Callable[..., Terminal]
SCREENS = LocalScreens()


@pytest.fixture
async def start(tmp_path: Path, pools: ThreadPools) -> AsyncIterator[Start]:
    started: list[Terminal] = []
    before = children()

    def start(*argv: str, capacity: int = 1 << 20) -> Terminal:
        new = Terminal(
            "t",
            TerminalOptions(argv, str(tmp_path), {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}, 80, 24),
            Journal(capacity),
            SnapshotCache(),
            SCREENS,
            pools.look,
            on_exit=lambda _: None,
        )
        started.append(new)
        return new

    yield start
    for left in started:
        if left.exit is None:
            os.kill(left.pid, signal.SIGKILL)
        await terminals.exited(left)
        left.retire()
    assert children() <= before


def snapshots_of(terminal: Terminal) -> list[CachedSnapshot]:
    """Return the snapshots that one request made."""
    made: list[CachedSnapshot] = []
    terminal.snapshot(made.append)
    return made


def output(terminal: Terminal) -> bytes:
    return terminal.journal.copy(terminal.journal.start, terminal.journal.end)


async def test_the_last_bytes_are_there_when_it_has_ended(start: Start) -> None:
    for _ in range(30):
        ends = start("sh", "-c", "seq 1000; exit 7")
        await terminals.exited(ends)
        assert ends.exit is not None
        assert ends.exit.code == 7
        assert output(ends) == b"".join(b"%d\r\n" % n for n in range(1, 1001))


async def test_typed_input_is_written_completely(start: Start) -> None:
    data = b"".join(b"%07d\n" % n for n in range(131_072))
    cat = start("sh", "-c", "stty raw -echo; echo ready; exec head -c 1048576", capacity=2 << 20)
    await terminals.until(cat, lambda: b"ready" in output(cat))
    written: list[int] = []
    for at in range(0, len(data), 100_000):
        cat.write(memoryview(data)[at : at + 100_000], written.append)
    await terminals.exited(cat)
    assert sum(written) == len(data)
    assert output(cat).removeprefix(b"ready\n").removeprefix(b"ready\r\n") == data


async def test_sizes_are_remembered_at_their_offsets(start: Start) -> None:
    shell = start("sh", "-c", "read x; echo 0123456789; read x; stty size; read x")
    shell.resize(100, 30)
    shell.write(b"\n")
    await terminals.until(shell, lambda: b"9" in output(shell))
    at = shell.journal.end
    shell.resize(90, 20)
    shell.resize(90, 20)
    shell.write(b"\n")
    await terminals.until(shell, lambda: b"20 90" in output(shell))
    assert shell.size == (90, 20)
    assert shell.sizes.get(0) == SizeMark(0, 80, 24)
    assert shell.sizes.get(1) == SizeMark(0, 100, 30)
    assert shell.sizes.get(2) == SizeMark(at, 90, 20)
    assert shell.sizes.get(3) is None
    assert shell.sizes.size_at(0) == (80, 24, 1)
    assert shell.sizes.size_at(1) == (100, 30, 2)
    assert shell.sizes.size_at(at) == (100, 30, 2), "the change applies before the byte at that offset"
    assert shell.sizes.size_at(at + 1) == (90, 20, 3)
    (snapshot,) = snapshots_of(shell)
    assert (snapshot.cols, snapshot.rows, snapshot.next_mark) == (90, 20, 3)
    assert snapshot.offset == shell.journal.end


async def test_sizes_are_remembered_in_a_bounded_number(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(marks, "LIMIT", 10)
    shell = start("sleep", "60")
    for number in range(50):
        shell.resize(100 + number, 24)
    assert shell.sizes.first == 41
    assert shell.sizes.get(41) == SizeMark(0, 140, 24)
    assert shell.sizes.get(50) == SizeMark(0, 149, 24)
    (snapshot,) = snapshots_of(shell)
    assert (snapshot.cols, snapshot.next_mark) == (149, 51)


async def test_a_signal_reaches_the_foreground_group(start: Start) -> None:
    shell = start("sh", "-c", "set -m; sh -c 'echo ready; exec sleep 60'; echo after $?")
    await terminals.until(shell, lambda: b"ready" in output(shell))
    shell.signal(signal.SIGTERM)
    await terminals.exited(shell)
    assert b"after 143" in output(shell), "the shell itself is in another group"


GIVES_UP = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGHUP, signal.SIG_IGN)
fcntl.ioctl(0, termios.TIOCNOTTY)
signal.signal(signal.SIGUSR1, lambda *_: os._exit(9))
print("gave up", flush=True)
signal.pause()
"""


async def test_a_signal_to_a_terminal_without_a_foreground_group_never_reaches_us(start: Start) -> None:
    """The kernel then reports group 0, which killpg takes as its own group."""
    ours: list[int] = []
    before = signal.signal(signal.SIGUSR1, lambda number, _: ours.append(number))
    try:
        program = start(sys.executable, "-c", GIVES_UP)
        await terminals.until(program, lambda: b"gave up" in output(program))
        program.signal(signal.SIGUSR1)
        await terminals.exited(program)
        assert program.exit is not None
        assert program.exit.code == 9
        assert ours == []
    finally:
        signal.signal(signal.SIGUSR1, before)


CLOSES = """
import os, signal
signal.signal(signal.SIGUSR1, lambda *_: os._exit(9))
os.write(1, b"bye")
os.closerange(0, 3)
signal.pause()
"""


async def test_a_program_that_closes_its_terminal_is_not_hung_up(start: Start) -> None:
    """Many programs do just before they exit, for example cat: a hang-up would replace their exit code."""
    closes = start(sys.executable, "-c", CLOSES)
    await eventually(lambda: closes.hung_up)  # no event reports it: the program still runs
    closes.resize(50, 50)
    closes.write(b"x\n")
    closes.signal(signal.SIGUSR1)
    await terminals.exited(closes)
    assert closes.exit is not None
    assert closes.exit.code == 9
    assert output(closes) == b"bye"


async def test_with_nobody_attached_the_screen_answers_queries(start: Start) -> None:
    asks = start("sh", "-c", "stty raw -echo; printf 'ab\\033[6n'; dd bs=1 count=6 2>/dev/null | od -An -c")
    await terminals.exited(asks)
    assert b"033   [   1   ;   3   R" in output(asks)


async def test_a_program_that_cannot_be_started_leaves_nothing(start: Start) -> None:
    with no_fd_leaked(), pytest.raises(HawseError, match="spawn_failed"):
        start("no-such-program")


async def test_a_child_that_cannot_be_watched_leaves_nothing(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_descriptor(*_: object) -> None:
        raise OSError(24, "Too many open files")

    before = children()
    monkeypatch.setattr(reaper, "Child", no_descriptor)
    with no_fd_leaked(), pytest.raises(HawseError, match="limit_exceeded"):
        start("sleep", "60")
    await asyncio.sleep(0)
    assert children() <= before


async def test_a_retired_terminal_lets_go_of_its_screen(start: Start) -> None:
    shell = start("true")
    await terminals.exited(shell)
    assert len(snapshots_of(shell)) == 1
    assert len(SCREENS.emulators) == 1
    shell.retire()
    assert len(SCREENS.emulators) == 0
    assert len(snapshots_of(shell)) == 1, "a plain one is created without the screen"
