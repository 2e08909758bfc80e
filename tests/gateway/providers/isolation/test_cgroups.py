"""Cgroups of this machine, where tests can create any, and a directory in place of version 2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hawse.api.sandboxes import SandboxLimits
from hawse_gateway.providers.isolation.cgroups import Tree, created, find, remove

TREE = find()
MIB = 1 << 20
real = pytest.mark.skipif(TREE is None or TREE.version != 1, reason="cannot create cgroups of version 1 here")


def run(fds: tuple[int, ...], program: str) -> str:
    """Run a program in the cgroups of these descriptors."""
    code = f"import os\nfor fd in {fds}: os.write(fd, b'0')\n{program}"
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=False, pass_fds=fds
    )
    return done.stdout.strip() or str(done.returncode)


@real
def test_processes_are_limited_and_the_cgroup_is_removed(tmp_path: Path) -> None:
    program = """
import signal
children = []
try:
    for _ in range(50):
        pid = os.fork()
        if pid == 0:
            signal.pause()
        children.append(pid)
except BlockingIOError:
    print(len(children))
for pid in children:
    os.kill(pid, 9)
    os.waitpid(pid, 0)
"""
    record = tmp_path / "cgroups"
    with created(TREE, f"test-{os.getpid()}-p", SandboxLimits(processes=10), record) as group:
        assert group.limited == ("processes",)
        assert all(place.is_dir() for place in group.directories)
        assert run(group.tasks, program) == "9"
    remove(record)
    remove(record)
    assert not any(place.exists() for place in group.directories)
    assert not record.exists()


@real
def test_memory_is_limited(tmp_path: Path) -> None:
    record = tmp_path / "cgroups"
    limits = SandboxLimits(memory=64 * MIB, processes=100)
    with created(TREE, f"test-{os.getpid()}-m", limits, record) as group:
        assert group.kills is not None
        before = os.pread(group.kills, 4096, 0)
        assert run(group.tasks, "print(len(bytearray(16 << 20)))") == str(16 * MIB)
        assert run(group.tasks, "print(len(bytearray(b'x') * (256 << 20)))") == "-9"
        assert (before.count(b"oom_kill 0\n"), os.pread(group.kills, 4096, 0).count(b"oom_kill 1\n")) == (1, 1)
    with created(TREE, f"test-{os.getpid()}-m", SandboxLimits(memory=512 * MIB), record) as group:
        assert run(group.tasks, "print(len(bytearray(b'x') * (256 << 20)))") == str(256 * MIB)  # the limit was raised
    remove(record)


@real
def test_the_time_of_processors_is_limited(tmp_path: Path) -> None:
    record = tmp_path / "cgroups"
    with created(TREE, f"test-{os.getpid()}-c", SandboxLimits(cpus=0.5), record) as group:
        assert set(group.limited) == {"processes", "cpus"}
        (place,) = (place for place in group.directories if (place / "cpu.cfs_quota_us").exists())
        assert (place / "cpu.cfs_quota_us").read_text().strip() == "50000"
    remove(record)


@real
def test_a_cgroup_with_a_process_is_not_removed(tmp_path: Path) -> None:
    record = tmp_path / "cgroups"
    with created(TREE, f"test-{os.getpid()}-b", SandboxLimits(), record) as group:
        sleeper = subprocess.Popen(["sleep", "60"])
        os.write(group.tasks[0], str(sleeper.pid).encode())
    with pytest.raises(OSError, match="busy"):
        remove(record)
    sleeper.kill()
    sleeper.wait()
    remove(record)


def test_without_cgroups_nothing_is_limited(tmp_path: Path) -> None:
    with created(None, "x", SandboxLimits(memory=1), tmp_path / "cgroups") as group:
        assert (group.tasks, group.processes, group.limited) == ((), (), ())
    assert find(tmp_path, tmp_path / "missing") is None
    (tmp_path / "cgroup").write_text("0::/\n")
    assert find(tmp_path, tmp_path / "cgroup") is None


def unified(root: Path, controllers: str) -> Path:
    """Make the files of a cgroup of version 2."""
    root.mkdir(exist_ok=True)
    (root / "cgroup.controllers").write_text(controllers)
    for name in ("cgroup.subtree_control", "cgroup.procs"):
        (root / name).touch()
    return root


def test_version_2_is_used_with_the_controllers_that_are_available(tmp_path: Path) -> None:
    root = unified(tmp_path / "cgroup", "cpu io pids")
    (tmp_path / "own").write_text("0::/\n")
    tree = find(root, tmp_path / "own")
    assert tree == Tree(2, {"processes": root, "cpus": root})
    (root / "hawse" / "one").mkdir(parents=True)
    unified(root / "hawse" / "one", "")
    limits = SandboxLimits(memory=1 * MIB, cpus=2, processes=5)
    with created(tree, "one", limits, tmp_path / "record") as group:
        assert set(group.limited) == {"processes", "cpus"}  # memory is reported as not limited
        assert (len(group.tasks), len(group.processes)) == (0, 1)
    assert (root / "hawse/one/pids.max").read_text() == "5"
    assert (root / "hawse/one/cpu.max").read_text() == "200000 100000"
    assert (root / "cgroup.subtree_control").read_text() == "+pids +cpu"
    assert (root / "hawse/cgroup.subtree_control").read_text() == "+pids +cpu"


def test_memory_of_version_2_is_limited_without_swap(tmp_path: Path) -> None:
    root = unified(tmp_path / "cgroup", "memory")
    unified(root / "hawse", "memory")
    unified(root / "hawse" / "one", "")
    tree = Tree(2, {"memory": root})
    with created(tree, "one", SandboxLimits(memory=5 * MIB), tmp_path / "record"):
        pass
    assert (root / "hawse/one/memory.max").read_text() == str(5 * MIB)
    assert (root / "hawse/one/memory.swap.max").read_text() == "0"


def test_a_part_of_the_tree_that_was_not_delegated_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = unified(tmp_path / "cgroup", "memory")
    delegated = unified(root / "user", "memory pids")
    unified(delegated / "shell", "memory")
    (tmp_path / "own").write_text("0::/user/shell\n")
    allowed = {delegated / name for name in ("cgroup.procs", "cgroup.subtree_control")}
    monkeypatch.setattr(os, "getuid", lambda: 1000)
    monkeypatch.setattr(os, "access", lambda path, mode: path in allowed)
    assert find(root, tmp_path / "own") == Tree(2, {"memory": delegated, "processes": delegated})
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert find(root, tmp_path / "own") is None
