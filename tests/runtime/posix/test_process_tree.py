"""A kill reaches everything that descends from a program."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse.wire import HawseError
from runtime.posix import process_tree as tree
from runtime.posix.process_tree import Member
from tests.support.runtime import alive, eventually

# Starts a grandchild in a session of its own, which ignores TERM, and says both pids.
FAMILY = """
setsid sh -c 'trap "" TERM; echo $$ > {folder}/away; while :; do sleep 60; done' &
sh -c 'echo $$ > {folder}/near; exec sleep 60' &
while :; do sleep 60; done
"""


def shell(script: str, env: dict[str, str] | None = None) -> int:
    return os.posix_spawn("/bin/sh", ["sh", "-c", script], {**os.environ, **(env or {})}, setsid=True)


def reaped(pid: int) -> bool:
    """Take the end of our child, once; after that its pid is not asked for again."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


class Family:
    def __init__(self, folder: Path) -> None:
        self.reaped = asyncio.Event()
        self.pid = shell(FAMILY.format(folder=folder))
        self._folder = folder

    async def grown(self) -> set[int]:
        await eventually(lambda: all(self._file(name).strip() for name in ("away", "near")))
        return {self.pid, int(self._file("away")), int(self._file("near"))}

    def reap(self) -> bool:
        if not self.reaped.is_set() and os.waitpid(self.pid, os.WNOHANG)[0]:
            self.reaped.set()
        return self.reaped.is_set()

    def _file(self, name: str) -> str:
        path = self._folder / name
        return path.read_text() if path.exists() else ""


@pytest.fixture
async def family(tmp_path: Path) -> AsyncIterator[Family]:
    family = Family(tmp_path)
    yield family
    if not family.reap():
        tree.kill(tree.members(family.pid), signal.SIGKILL)
        await eventually(family.reap)


async def test_members_are_the_session_and_all_descendants(family: Family) -> None:
    pids = await family.grown()
    assert pids <= {member.pid for member in tree.members(family.pid)}
    assert os.getpid() not in {member.pid for member in tree.members(family.pid)}


async def test_an_end_reaches_those_who_left_the_session_and_ignore_term(family: Family) -> None:
    pids = await family.grown()
    await asyncio.wait_for(tree.end(family.pid, signal.SIGTERM, 0.05, family.reap), 10)
    assert family.reap()
    assert not any(alive(pid) for pid in pids)


async def test_a_stopped_program_acts_on_term(tmp_path: Path) -> None:
    script = f"trap 'echo got > {tmp_path}/got; exit' TERM; echo > {tmp_path}/ready; while :; do sleep 0.01; done"
    pid = shell(script)
    await eventually((tmp_path / "ready").exists)
    os.kill(pid, signal.SIGSTOP)
    await tree.end(pid, signal.SIGTERM, 10, lambda: reaped(pid))
    assert (tmp_path / "got").read_text() == "got\n"


async def test_what_cannot_be_killed_is_an_error_and_not_waited_for_for_ever(
    family: Family, monkeypatch: pytest.MonkeyPatch
) -> None:
    await family.grown()
    monkeypatch.setattr(tree, "KILL_PATIENCE", 0.02)
    monkeypatch.setattr(tree, "kill", lambda targets, signum: None)
    with pytest.raises(HawseError, match="permission_denied"):
        await tree.end(family.pid, signal.SIGTERM, 0.01, family.reap)


def test_a_later_process_of_the_same_pid_is_not_touched() -> None:
    pid = os.posix_spawn("/bin/sleep", ["sleep", "60"], {})
    (member,) = (m for m in tree.members(pid) if m.pid == pid)
    tree.kill([Member(pid, member.started - 1)], signal.SIGKILL)
    assert os.waitpid(pid, os.WNOHANG) == (0, 0)
    tree.kill([member], signal.SIGKILL)
    assert os.waitpid(pid, 0)[0] == pid
    tree.kill([member], signal.SIGKILL)


def test_looking_at_the_whole_machine_is_quick() -> None:
    began = time.perf_counter()
    tree.members(os.getpid())
    assert time.perf_counter() - began < 0.5


async def test_a_daemon_whose_parents_are_gone_is_known_by_its_mark(tmp_path: Path) -> None:
    """It left the session, and was orphaned before anybody looked."""
    daemon_script = f'trap "" TERM; echo 1 > {tmp_path}/up; while :; do sleep 60; done'
    script = f"setsid sh -c '({daemon_script}) & echo $! > {tmp_path}/pid' &"
    leader = shell(f"{script} wait", {tree.MARK: "i1"})
    await eventually((tmp_path / "up").exists)
    await eventually(lambda: reaped(leader))
    daemon = int((tmp_path / "pid").read_text())
    assert alive(daemon)
    assert tree.members(leader, f"{tree.MARK}=i2", reaped=True) == set()
    assert tree.members(leader, reaped=True) == set()
    assert daemon in {member.pid for member in tree.members(leader, f"{tree.MARK}=i1", reaped=True)}
    await tree.end(leader, signal.SIGTERM, 0.05, lambda: True, mark=f"{tree.MARK}=i1")
    assert not alive(daemon)


async def test_what_stayed_in_the_session_is_known_without_a_mark_after_its_leader(tmp_path: Path) -> None:
    leader = shell(f"(env -i sleep 60 & echo $! > {tmp_path}/pid)")
    await eventually(lambda: reaped(leader))
    left = int((tmp_path / "pid").read_text())
    assert alive(left)
    await tree.end(leader, signal.SIGTERM, 5, lambda: True, mark=f"{tree.MARK}=i3")
    assert not alive(left)


async def test_what_a_program_starts_to_clean_up_is_given_its_time(tmp_path: Path) -> None:
    cleanup = f"sleep 0.2; echo clean > {tmp_path}/clean"
    pid = shell(f"trap 'sh -c \"{cleanup}\"; exit' TERM; echo > {tmp_path}/ready; while :; do sleep 0.01; done")
    await eventually((tmp_path / "ready").exists)
    await tree.end(pid, signal.SIGTERM, 10, lambda: reaped(pid))
    assert (tmp_path / "clean").read_text() == "clean\n"
