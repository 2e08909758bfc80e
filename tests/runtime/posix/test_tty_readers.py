"""Looks at real programs on real PTYs. Each program that must not count as reading says when it has got there."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from hawse_runtime.posix.process_table import read_stat
from hawse_runtime.posix.spawn import name_of_pty, spawn_pty
from hawse_runtime.posix.tty_readers import Call, Reading, command_line, find_reader
from tests.support.runtime import eventually
from tests.support.waiting import readable

ENV = {"PATH": os.environ["PATH"], "TERM": "xterm-256color"}
SELECT = "import os,select,sys,socket,threading\n"
READERS = {
    "a builtin": ["sh", "-c", "read x"],
    "a program": ["cat"],
    "a child": ["sh", "-c", "sh -c 'read x'; true"],
    "the end of a pipeline": ["sh", "-c", "echo | (read x </dev/tty)"],
    "one process of two": ["sh", "-c", "sleep 3600 | (read x </dev/tty)"],
    "select": ["python3", "-c", SELECT + "select.select([0], [], [])"],
    "select with a timeout": ["python3", "-c", SELECT + "select.select([0], [], [], 3600)"],
    "poll": ["python3", "-c", SELECT + "p = select.poll(); p.register(0, select.POLLIN); p.poll()"],
    "epoll": ["python3", "-c", SELECT + "p = select.epoll(); p.register(0, select.EPOLLIN); p.poll()"],
    "the controlling terminal": ["python3", "-c", SELECT + "os.read(os.open('/dev/tty', os.O_RDWR), 1)"],
    "another thread": ["python3", "-c", SELECT + "threading.Thread(target=os.read, args=(0, 1)).start()"],
}
OTHERS = {
    "a sleep": "import time; print('here', flush=True); time.sleep(3600)",
    "a loop": "print('here', flush=True)\nwhile True: pass",
    "a pipe": "r, w = os.pipe(); print('here', flush=True); os.read(r, 1)",
    "select on a pipe": "r, w = os.pipe(); print('here', flush=True); select.select([r], [0], [0]) and os.read(r, 1)",
    "poll for hang-ups": "p = select.poll(); p.register(0, 0); print('here', flush=True); p.poll()",
    "epoll on a pipe": (
        "r, w = os.pipe(); p = select.epoll(); p.register(r); p.register(0, select.EPOLLERR)\n"
        "print('here', flush=True); p.poll()"
    ),
    "a server": "s = socket.create_server(('127.0.0.1', 0)); print('here', flush=True); s.accept()",
    "another PTY": "m, s = os.openpty(); print('here', flush=True); os.read(s, 1)",
}

Run = Callable[..., tuple[int, int]]


@pytest.fixture
def run() -> Iterator[Run]:
    """Starts a program on a PTY, and returns its pid and the master."""
    started: list[tuple[int, int]] = []

    def run(*argv: str) -> tuple[int, int]:
        started.append(spawn_pty(argv, env=ENV, cwd="/", cols=80, rows=24))
        return started[-1]

    yield run
    for pid, master in started:
        with suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)
        os.close(master)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)


def look(pid: int, master: int, calls: dict[int, Call] | None = None) -> Reading:
    return find_reader(name_of_pty(master), os.tcgetpgrp(master), pid, calls)


@pytest.mark.parametrize("argv", READERS.values(), ids=READERS)
async def test_a_process_that_waits_for_input_is_found(run: Run, argv: list[str]) -> None:
    pid, master = run(*argv)
    await eventually(lambda: look(pid, master).found == "yes")
    found = look(pid, master)
    assert found.argv == command_line(found.pid)
    assert not found.relay


@pytest.mark.parametrize("program", OTHERS.values(), ids=OTHERS)
async def test_a_process_that_waits_for_something_else_does_not_read(run: Run, program: str) -> None:
    pid, master = run("python3", "-c", SELECT + program)
    await readable(master)
    assert os.read(master, 100).startswith(b"here")
    await eventually(lambda: "while" in program or _state(pid) == "S")
    found = look(pid, master)
    assert (found.found, found.pid) == ("no", pid)


async def test_a_process_in_the_background_does_not_count(run: Run) -> None:
    program = "child = os.fork()\nif not child:\n    os.setpgid(0, 0)\n    os.read(0, 1)\n"
    stopped = "os.waitpid(child, os.WUNTRACED); print('here', flush=True); os.waitpid(child, 0)"
    pid, master = run("python3", "-c", SELECT + program + stopped)
    await readable(master)
    assert look(pid, master).found == "no"


async def test_a_system_call_that_hides_its_descriptors_is_unknown(run: Run) -> None:
    pid, master = run("cat")
    await eventually(lambda: look(pid, master).found == "yes")
    assert look(pid, master, {0: "unknown", 63: "unknown"}).found == "unknown"
    assert look(pid, master, {}).found == "unknown"


async def test_a_program_with_too_many_threads_is_unknown(run: Run) -> None:
    pid, master = run(
        *("python3", "-c"),
        SELECT
        + "threading.stack_size(65536); e = threading.Event()\n"
        + "for _ in range(1200): threading.Thread(target=e.wait).start()\n"
        + "print('here', flush=True); os.read(0, 1)",
    )
    await readable(master)
    assert look(pid, master).found in ("yes", "unknown")  # the main thread is looked at first
    assert look(pid, master, {202: "read", 98: "read"}).found in ("no", "unknown")


async def test_a_program_with_another_pty_is_a_relay(run: Run) -> None:
    pid, master = run("python3", "-c", SELECT + "m, s = os.openpty(); select.select([0, m], [], [])")
    await eventually(lambda: look(pid, master).found == "yes")
    assert look(pid, master).relay


def test_a_process_that_has_ended_has_no_command_line() -> None:
    assert command_line(2**22 - 1) == []


def test_a_group_without_processes_reads_nothing() -> None:
    assert find_reader("/dev/pts/0", 2**22 - 1, 2**22 - 1) == Reading("no", 2**22 - 1, [])


def _state(pid: int) -> str:
    stat = read_stat(pid)
    return "" if stat is None else stat.state
