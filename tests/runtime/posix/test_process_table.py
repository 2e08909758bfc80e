"""Snapshots of all processes, and how callers share them."""

import asyncio
import os
import secrets
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.posix.process_table import (
    PROCESS_MARK,
    RUNTIME_MARK,
    Member,
    ProcessReader,
    ProcessStat,
    ProcessTable,
    SharedProcessReader,
    alive,
    living,
    read_marks_of,
    read_stat,
)

# Marks of this process of pytest only: all of /proc is read, where tests of other workers have processes too.
OURS = f"{PROCESS_MARK}={secrets.token_hex(8)}"
OUR_RUNTIME = f"{RUNTIME_MARK}={secrets.token_hex(8)}"


def environment(*marks: str) -> dict[str, str]:
    return dict(mark.split("=", 1) for mark in marks)


@pytest.fixture
def sleeper() -> Iterator[int]:
    """A process with both marks that has begun to run."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            pid = os.posix_spawn(
                "/bin/cat",
                ["cat"],
                environment(OURS, OUR_RUNTIME),
                file_actions=[(os.POSIX_SPAWN_DUP2, theirs.fileno(), fd) for fd in (0, 1)],
                setsid=True,
            )
        ours.sendall(b"x")
        assert ours.recv(1) == b"x"
        yield pid
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def member(pid: int) -> Member:
    stat = read_stat(pid)
    assert stat is not None
    return Member(pid, stat.started)


def test_a_process_is_found_by_its_pid_and_by_both_marks(sleeper: int) -> None:
    table = ProcessReader().read()
    assert table.members(sleeper) == {member(sleeper)}
    assert sleeper in table.marked(OURS) & table.marked(OUR_RUNTIME)
    assert sleeper not in table.marked(OURS[:-1])
    assert table.members(-1, OUR_RUNTIME) == {member(sleeper)}


def test_the_reading_process_is_never_a_member() -> None:
    assert os.getpid() not in {process.pid for process in ProcessReader().read().members(os.getpid())}


def test_processes_without_marks_are_read_once(sleeper: int) -> None:
    read = []

    def noted(pid: int) -> frozenset[bytes] | None:
        read.append(pid)
        return read_marks_of(pid)

    reader = ProcessReader(noted)
    reader.read()
    others = len(read)
    read.clear()
    table = reader.read()
    assert sleeper in table.marked(OURS)
    assert sleeper in read
    assert len(read) < others


def test_a_child_before_its_exec_is_read_again(sleeper: int) -> None:
    """Until then /proc shows the environment of the runtime, which has no mark."""
    executed = False
    reader = ProcessReader(lambda pid: read_marks_of(pid) if executed else frozenset())
    assert not reader.read().marked(OURS)
    executed = True
    assert sleeper in reader.read().marked(OURS)


def test_a_process_that_calls_exec_is_found() -> None:
    """/proc shows no environment while exec(2) replaces the program. It was taken for one without marks for ever."""
    reader = ProcessReader()
    for _ in range(100):
        pid = os.posix_spawn("/bin/sh", ["sh", "-c", "exec nohup sleep 60 2>/dev/null"], environment(OURS))
        try:
            looks = [reader.read().marked(OURS) for _ in range(3)]
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        assert all(pid in found for found in looks)


def test_a_process_without_an_environment_is_known_to_have_no_mark() -> None:
    pid = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    try:
        assert read_marks_of(pid) == frozenset()
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert read_marks_of(pid) == read_marks_of(2) == frozenset(), "one that has ended, and a thread of the kernel"


def test_a_process_whose_marks_are_not_known_is_read_again(sleeper: int) -> None:
    marks: list[frozenset[bytes] | None] = [None, frozenset({OURS.encode()})]
    reader = ProcessReader(lambda pid: marks.pop(0) if pid == sleeper else frozenset())
    assert not reader.read().marked(OURS)
    assert reader.read().marked(OURS) == {sleeper}


def test_a_circle_of_parents_ends() -> None:
    """/proc is not read at one moment: pids may be reused meanwhile."""
    stats = {8: ProcessStat("S", 9, 8, 8, 1), 9: ProcessStat("S", 8, 9, 9, 1)}
    assert ProcessTable(stats, {}).members(5) == set()


def test_a_zombie_is_not_alive() -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    zombie = member(pid)
    assert not alive(zombie)
    assert ProcessReader().read().members(pid) == set()
    os.waitpid(pid, 0)
    assert living([zombie]) == set()
    assert read_stat(pid) is None


async def test_calls_share_the_next_reading_and_never_one_that_has_begun(
    pools: ThreadPools, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun: list[None] = []
    go = Event()
    loop, first_begun = asyncio.get_running_loop(), asyncio.Event()
    tables = [ProcessTable({}, {}) for _ in range(2)]

    def read(self: ProcessReader) -> ProcessTable:
        begun.append(None)
        loop.call_soon_threadsafe(first_begun.set)
        go.wait(20)
        return tables[len(begun) - 1]

    monkeypatch.setattr(ProcessReader, "read", read)
    shared = SharedProcessReader(pools.kill)
    first = asyncio.ensure_future(shared.read())
    await first_begun.wait()
    later = [asyncio.ensure_future(shared.read()) for _ in range(10)]
    await asyncio.sleep(0)
    later.pop().cancel()  # one that gives up takes nothing from the others
    go.set()
    assert await first is tables[0]
    assert all(table is tables[1] for table in await asyncio.gather(*later))


async def test_a_reading_does_not_wait_for_other_threads(pools: ThreadPools) -> None:
    """Readings once waited behind six slow disk jobs in the loop's default executor."""
    go = Event()
    loop = asyncio.get_running_loop()
    default = ThreadPoolExecutor(2)
    loop.set_default_executor(default)
    slow = [loop.run_in_executor(None, go.wait, 60) for _ in range(4)]
    slow += [pools.disk.submit(lambda: go.wait(60)) for _ in range(2 * pools.disk.threads)]
    try:
        async with asyncio.timeout(20):
            await SharedProcessReader(pools.kill).read()
    finally:
        go.set()
        await asyncio.gather(*slow)
