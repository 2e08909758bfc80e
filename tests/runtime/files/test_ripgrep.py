"""ripgrep: what a caller says is never an option, what it says of trouble is told, and it never outlives its search."""

import os
from pathlib import Path

import pytest

from hawse.api.files import FileSearch, SearchMatch
from hawse.wire import HawseError
from runtime.core.globs import Filter
from runtime.files.ripgrep import Ripgrep, arguments
from runtime.files.rooted_path import RootedPath
from runtime.files.walk import WalkError
from tests.support.runtime import children, no_fd_leaked


@pytest.fixture
def rg() -> Ripgrep:
    found = Ripgrep.find(os.environ)
    assert found is not None, "these tests need ripgrep"
    return found


def searched(rg: Ripgrep, path: Path, **params):
    search = FileSearch(path=str(path), **params)
    wanted = Filter(search.include or [], search.exclude or [])
    return [item for item in rg.search(RootedPath(str(path)), search, wanted) if item is not None]


@pytest.mark.parametrize("word", ["--pre=/bin/id", "-f/etc/passwd", "--", "-e", "--files"])
def test_what_a_caller_says_is_no_option(rg: Ripgrep, tmp_path: Path, word: str) -> None:
    (tmp_path / "f").write_text(f"x {word} y\n")
    (found,) = searched(rg, tmp_path, pattern=word, literal=True, include=["*"], exclude=[word])
    assert (found.path, found.line, found.spans) == ("f", 1, [(2, 2 + len(word))])
    (tmp_path / word.replace("/", "_")).mkdir()
    assert len(searched(rg, tmp_path, pattern=word, literal=True)) == 1
    assert arguments(FileSearch(path="x", pattern=word, include=["!a"]))[-3:] == [
        r"--glob=\!a",
        f"--regexp={word}",
        "--",
    ]


def test_names_of_any_bytes_and_what_is_hidden(rg: Ripgrep, tmp_path: Path) -> None:
    for name in (os.fsdecode(b"caf\xe9"), ".hidden", "-dash", "ignored"):
        (tmp_path / name).write_bytes(b"\xff needle\n")
    (tmp_path / ".gitignore").write_text("ignored\n")
    (tmp_path / ".ignore").write_text("ignored\n")
    found = searched(rg, tmp_path, pattern="NEEDLE", ignore_case=True)
    assert {match.path for match in found} == {"caf\0e9", ".hidden", "-dash", "ignored"}
    assert {match.text for match in found} == {"� needle"}
    assert {match.path for match in searched(rg, tmp_path, pattern="needle", hidden=False)} == {
        "caf\0e9",
        "-dash",
        "ignored",
    }


def test_a_file_that_is_named_is_searched_alone(rg: Ripgrep, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\nneedle\n")
    (tmp_path / "g").write_text("needle\n")
    assert [(match.path, match.line) for match in searched(rg, tmp_path / "f", pattern="needle")] == [("f", 2)]
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(HawseError, match="regular"):
        searched(rg, tmp_path / "fifo", pattern="x")


def test_what_it_cannot_look_at_is_told(rg: Ripgrep, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("needle\n")
    (tmp_path / "mem").symlink_to("f")
    troubles = [item for item in searched(rg, Path("/proc/self/task"), pattern="needle") if isinstance(item, WalkError)]
    assert troubles
    assert all(trouble.error.code != "internal" and trouble.path for trouble in troubles)


def test_a_pattern_that_it_does_not_know_is_an_error(rg: Ripgrep, tmp_path: Path) -> None:
    with no_fd_leaked(), pytest.raises(HawseError, match="invalid_params"):
        searched(rg, tmp_path, pattern=r"(?P<a")


def test_a_search_that_is_left_ends_it(rg: Ripgrep, tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / str(number)).write_text("needle\n" * 5000)
    before = children()
    with no_fd_leaked():
        search = rg.search(RootedPath(str(tmp_path)), FileSearch(path="x", pattern="needle"), Filter([], []))
        assert any(isinstance(next(search), SearchMatch) for _ in range(1000))
        assert children() - before
        search.close()
    assert children() == before


def test_one_that_is_killed_or_cannot_be_started_has_not_looked_at_everything(tmp_path: Path) -> None:
    program = tmp_path / "rg"
    program.write_text("#!/bin/sh\nkill -9 $$\n")
    program.chmod(0o755)
    with no_fd_leaked(), pytest.raises(HawseError, match=r"io_error: .*SIGKILL"):
        searched(Ripgrep(str(program), os.environ), tmp_path, pattern="x")
    with no_fd_leaked(), pytest.raises(HawseError, match=r"io_error: .*not found"):
        searched(Ripgrep(str(tmp_path / "none"), os.environ), tmp_path, pattern="x")
