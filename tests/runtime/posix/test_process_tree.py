"""A kill reaches everything that descends from a program."""

import asyncio
import os
import secrets
import signal
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.core.thread_pool import ThreadPools
from hawse_runtime.posix import process_tree
from hawse_runtime.posix.process_table import PROCESS_MARK, Member, ProcessReader, ProcessTable
from hawse_runtime.posix.process_tree import ProcessTrees, kill
from tests.support.runtime import alive
from tests.support.waiting import exists, gone, lines

# Starts a grandchild in a separate session, which ignores TERM, and writes both pids.
FAMILY = """
setsid sh -c 'trap "" TERM; echo $$ > {folder}/away; while :; do sleep 60; done' &
sh -c 'echo $$ > {folder}/near; exec sleep 60' &
while :; do sleep 60; done
"""


def shell(script: str, env: dict[str, str] | None = None) -> int:
    return os.posix_spawn("/bin/sh", ["sh", "-c", script], {**os.environ, **(env or {})}, setsid=True)


def reaped(pid: int) -> bool:
    """Take the end of our child, once; after that its pid is not used again."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def members(root: int, mark: str = "", *, reaped: bool = False) -> set[Member]:
    return ProcessReader().read().members(root, mark, reaped=reaped)


class Family:
    def __init__(self, folder: Path) -> None:
        self.reaped = asyncio.Event()
        self.pid = shell(FAMILY.format(folder=folder))
        self._folder = folder

    async def grown(self) -> set[int]:
        away, near = await lines(self._folder / "away", self._folder / "near")
        return {self.pid, int(away), int(near)}

    def reap(self) -> bool:
        if not self.reaped.is_set() and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.reaped.set()
        return self.reaped.is_set()


@pytest.fixture
async def family(tmp_path: Path) -> AsyncIterator[Family]:
    family = Family(tmp_path)
    yield family
    if not family.reap():
        kill(members(family.pid), signal.SIGKILL)
        await gone(family.pid)
        family.reap()


async def test_members_are_the_session_and_all_descendants(family: Family) -> None:
    pids = await family.grown()
    assert pids <= {member.pid for member in members(family.pid)}
    assert os.getpid() not in {member.pid for member in members(family.pid)}


async def test_end_reaches_processes_that_left_the_session_and_ignore_term(family: Family, trees: ProcessTrees) -> None:
    pids = await family.grown()
    await asyncio.wait_for(trees.end(family.pid, signal.SIGTERM, 0.05, family.reap), 10)
    assert family.reap()
    assert not any(alive(pid) for pid in pids)


async def test_a_stopped_program_acts_on_term(tmp_path: Path, trees: ProcessTrees) -> None:
    script = f"trap 'echo got > {tmp_path}/got; exit' TERM; echo > {tmp_path}/ready; while :; do sleep 0.01; done"
    pid = shell(script)
    await exists(tmp_path / "ready")
    os.kill(pid, signal.SIGSTOP)
    await trees.end(pid, signal.SIGTERM, 10, lambda: reaped(pid))
    assert (tmp_path / "got").read_text() == "got\n"


async def test_a_process_that_cannot_be_killed_raises_permission_denied_after_a_timeout(
    family: Family, pools: ThreadPools, monkeypatch: pytest.MonkeyPatch
) -> None:
    await family.grown()
    monkeypatch.setattr(process_tree, "kill", lambda targets, signum: None)
    trees = ProcessTrees(pools.kill, sigkill_timeout=0.02)
    with pytest.raises(HawseError, match="permission_denied"):
        await trees.end(family.pid, signal.SIGTERM, 0.01, family.reap)
    trees.close()


def test_a_later_process_of_the_same_pid_is_not_touched() -> None:
    pid = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    (member,) = (m for m in members(pid) if m.pid == pid)
    kill([Member(pid, member.started - 1)], signal.SIGKILL)
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    kill([member], signal.SIGKILL)
    assert os.waitpid(pid, 0)[0] == pid
    kill([member], signal.SIGKILL)


async def test_a_daemon_whose_parents_have_ended_is_found_by_its_mark(tmp_path: Path, trees: ProcessTrees) -> None:
    """It left the session, and was orphaned before the process table was read."""
    daemon_script = f'trap "" TERM; echo 1 > {tmp_path}/up; while :; do sleep 60; done'
    script = f"setsid sh -c '({daemon_script}) & echo $! > {tmp_path}/pid' &"
    own = secrets.token_hex(8)  # tests of other workers have marked processes too
    mark = f"{PROCESS_MARK}={own}"
    leader = shell(f"{script} wait", {PROCESS_MARK: own})
    await exists(tmp_path / "up")
    await gone(leader)
    assert reaped(leader)
    daemon = int((tmp_path / "pid").read_text())
    assert alive(daemon)
    assert members(leader, f"{mark}x", reaped=True) == set()
    assert members(leader, reaped=True) == set()
    assert daemon in {member.pid for member in members(leader, mark, reaped=True)}
    await trees.end(leader, signal.SIGTERM, 0.05, lambda: True, mark=mark)
    assert not alive(daemon)


async def test_an_unmarked_member_of_the_session_is_found_after_its_leader(tmp_path: Path, trees: ProcessTrees) -> None:
    leader = shell(f"(env -i sleep 60 & echo $! > {tmp_path}/pid)")
    await gone(leader)
    assert reaped(leader)
    left = int((tmp_path / "pid").read_text())
    assert alive(left)
    await trees.end(leader, signal.SIGTERM, 5, lambda: True, mark=f"{PROCESS_MARK}={secrets.token_hex(8)}")
    assert not alive(left)


async def test_a_program_may_start_a_child_to_clean_up(tmp_path: Path, trees: ProcessTrees) -> None:
    cleanup = f"sleep 0.2; echo clean > {tmp_path}/clean"
    pid = shell(f"trap 'sh -c \"{cleanup}\"; exit' TERM; echo > {tmp_path}/ready; while :; do sleep 0.01; done")
    await exists(tmp_path / "ready")
    await trees.end(pid, signal.SIGTERM, 10, lambda: reaped(pid))
    assert (tmp_path / "clean").read_text() == "clean\n"


async def test_400_trees_are_ended_with_a_few_readings_of_proc(
    trees: ProcessTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R8, S12: 400 kills each read all of /proc for themselves, and took half a minute."""
    readings = 0
    read = ProcessReader.read

    def counted(self: ProcessReader) -> ProcessTable:
        nonlocal readings
        readings += 1
        return read(self)

    monkeypatch.setattr(ProcessReader, "read", counted)
    pids = [shell("exec sleep 60") for _ in range(400)]
    async with asyncio.timeout(60):
        await asyncio.gather(*(trees.end(pid, signal.SIGTERM, 10, partial(reaped, pid)) for pid in pids))
    assert not any(map(alive, pids))
    assert readings < 40
