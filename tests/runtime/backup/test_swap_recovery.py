"""A restore of a workspace whose runtime is killed at any step is undone or finished: never half of it stays."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from hawse_runtime.backup.swap_recovery import recover, sweep
from tests.support.runtime import no_fd_leaked
from tests.support.trees import plant, seen

OLD = {b"a": b"old", b"sub": {b"b": b"old"}, b"c": b"old", b"same": b"old"}
NEW = {b"a": b"new", b"d": {b"e": b"new"}, b"same": b"new"}
STEPS = len(OLD) + len(NEW)

# Replaces the entries of a directory, and kills itself before the step with the given number.
KILLED = """
import os, signal, sys
from hawse_runtime.backup import tree_moves
from hawse_runtime.backup.directory_swap import replacing
from hawse_runtime.files.rooted_path import RootedPath

target, last, fails = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
steps = 0


def move(name, source, target):
    global steps
    if steps == last:
        os.kill(os.getpid(), signal.SIGKILL)
    steps += 1
    if steps == fails:
        raise OSError(5, "of the disk")
    tree_moves.move_entry(name, source, target)


with replacing(RootedPath(target), in_place=True) as swap:
    for name, content in (("a", "new"), ("d/e", "new"), ("same", "new")):
        if "/" in name:
            os.mkdir(os.path.dirname(name), dir_fd=swap.new)
        with os.fdopen(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644, dir_fd=swap.new), "w") as file:
            file.write(content)
    os.chmod(swap.new, 0o750)
    if last == -1:
        os.kill(os.getpid(), signal.SIGKILL)
    swap.commit(move=move)
    os.kill(os.getpid(), signal.SIGKILL)
"""


def trees(folder: Path) -> list[dict[bytes, object]]:
    """The permitted states of the directory: entirely old, or entirely new."""
    for name, tree in (("old", OLD), ("new", NEW)):
        plant(folder / name, tree)
    return [content(folder / name) for name in ("old", "new")]


def content(folder: Path) -> dict[bytes, object]:
    found = (path for path in sorted(folder.rglob("*")))
    return {os.fsencode(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in found}


def ended(target: Path, last: int, fails: int = 0) -> int:
    """Replace until the program is killed, or ends after a failure; return its exit code."""
    command = [sys.executable, "-c", KILLED, str(target), str(last), str(fails)]
    return subprocess.run(command, timeout=30, capture_output=True, check=False).returncode


def swept(target: Path, *, starting: bool = True) -> None:
    fd = os.open(target, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with no_fd_leaked():
            if starting:
                recover(fd, starting=True)
            sweep(fd)
    finally:
        os.close(fd)


@pytest.mark.parametrize("last", range(-1, STEPS + 1))
def test_a_kill_before_any_step(tmp_path: Path, last: int) -> None:
    old, new = trees(tmp_path)
    target = tmp_path / "t"
    plant(target, OLD)
    assert ended(target, last) == -signal.SIGKILL
    swept(target)
    assert content(target) == (old if last < len(OLD) else new)
    if last >= len(OLD):
        assert target.stat().st_mode & 0o7777 == 0o750


@pytest.mark.parametrize("fails", [3, len(OLD) + 2])
@pytest.mark.parametrize("later", range(6))
def test_a_kill_while_a_failure_is_undone(tmp_path: Path, fails: int, later: int) -> None:
    """Step `fails` fails; of those that undo the others, some are taken."""
    possible = trees(tmp_path)
    target = tmp_path / "t"
    plant(target, OLD)
    assert ended(target, fails + later, fails) == (-signal.SIGKILL if later < fails - 1 else 1)
    swept(target)
    assert content(target) in possible


def test_what_programs_have_created_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    left = tmp_path / ".hawse-restore-0123456789abcdef"
    plant(left, {b"new": {}, b"old": {b"a": b"old", b"b": b"old"}})
    (tmp_path / "a").write_text("mine")
    swept(tmp_path)
    assert (tmp_path / "a").read_text() == "mine"
    assert (tmp_path / "b").read_text() == "old"
    assert (left / "old/a").read_text() == "old"
    (tmp_path / "a").unlink()
    swept(tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["a", "b"]


def test_an_archive_that_was_sent_is_a_leftover_only_at_the_start(tmp_path: Path) -> None:
    sent = tmp_path / ".hawse-restore-0123456789abcdef"
    sent.write_text("an archive")
    (tmp_path / ".hawse-restore-short").write_text("of others")
    swept(tmp_path, starting=False)
    assert sent.exists()
    fd = os.open(tmp_path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        assert recover(fd, starting=True) == [sent.name]
    finally:
        os.close(fd)


def test_a_symlink_is_not_followed(tmp_path: Path) -> None:
    plant(tmp_path / "other", {b"old": {b"f": b"x"}})
    (tmp_path / "t").mkdir()
    (tmp_path / "t/.hawse-restore-0123456789abcdef").symlink_to("../other")
    left = tmp_path / "t/.hawse-restore-fedcba9876543210"
    left.mkdir()
    (left / "old").symlink_to("../../other/old")
    before = seen(tmp_path / "other")
    swept(tmp_path / "t")
    assert seen(tmp_path / "other") == before
    assert not (tmp_path / "t/f").exists()
