"""Processes left running by a killed runtime are found and ended."""

import logging
import os
import secrets
import signal
from pathlib import Path

import pytest

from hawse_runtime.core.folder import Folder
from hawse_runtime.posix.process_table import RUNTIME_MARK
from hawse_runtime.posix.process_tree import ProcessTrees
from hawse_runtime.posix.stale_processes import ID_FILE, RuntimeIdFile, end_stale_processes
from tests.support.runtime import alive

OLD = "0123456789abcdef"


@pytest.fixture
def old() -> str:
    """The id of a runtime that no other test has: tests of other workers start and end such processes too."""
    return secrets.token_hex(8)


def start(runtime_id: str) -> int:
    return os.posix_spawn("/bin/sleep", ["sleep", "60"], {RUNTIME_MARK: runtime_id}, setsid=True)


def reap(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


async def test_only_the_processes_of_that_runtime_are_ended(
    trees: ProcessTrees, caplog: pytest.LogCaptureFixture, old: str
) -> None:
    stale, other = start(old), start(f"{old}0")
    with caplog.at_level(logging.WARNING):
        await end_stale_processes(trees, old)
    assert not alive(stale)
    assert alive(other)
    assert "ending its 1 processes" in caplog.text
    reap(other)
    reap(stale)


async def test_without_such_processes_nothing_is_logged(
    trees: ProcessTrees, caplog: pytest.LogCaptureFixture, old: str
) -> None:
    with caplog.at_level(logging.WARNING):
        await end_stale_processes(trees, old)
    assert not caplog.text


def test_the_file_has_the_id_until_it_is_removed(tmp_path: Path) -> None:
    file = RuntimeIdFile(Folder(tmp_path))
    assert file.read() is None
    file.write(OLD)
    assert file.read() == OLD
    file.remove()
    file.remove()
    assert file.read() is None
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"", b"x", OLD.encode() + b"\n", b"\xff" * 16])
def test_a_file_with_other_content_names_no_runtime(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ID_FILE).write_bytes(content)
    assert RuntimeIdFile(Folder(tmp_path)).read() is None
