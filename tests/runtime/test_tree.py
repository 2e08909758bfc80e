"""A kill reaches everything that descends from a program."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hawse.wire import HawseError
from runtime import tree
from runtime.tree import Member
from tests.runtime.support import alive, eventually

# Starts a grandchild in a session of its own, which ignores TERM, and says both pids.
FAMILY = """
setsid sh -c 'trap "" TERM; echo $$ > {folder}/away; while :; do sleep 60; done' &
sh -c 'echo $$ > {folder}/near; exec sleep 60' &
while :; do sleep 60; done
"""


def shell(script: str) -> int:
    return os.posix_spawn("/bin/sh", ["sh", "-c", script], os.environ, setsid=True)


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
    await tree.end(pid, signal.SIGTERM, 10, lambda: os.waitpid(pid, os.WNOHANG)[0] == pid or not _exists(pid))
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


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def test_looking_at_the_whole_machine_is_quick() -> None:
    began = time.perf_counter()
    tree.members(os.getpid())
    assert time.perf_counter() - began < 0.5
