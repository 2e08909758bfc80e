import json
import os
import secrets
from pathlib import Path

import pytest

from hawse.cli import main
from hawse.cli.copy import remote_path
from tests.support.stack import Stack


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A local directory with files of several sizes and modes, an empty directory and a FIFO."""
    root = tmp_path / "tree"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "empty").mkdir()
    (root / "small").write_bytes(b"x")
    (root / "none").write_bytes(b"")
    (root / "sub" / "big").write_bytes(os.urandom(3 << 20))
    (root / "sub" / "deep" / "run").write_text("#!/bin/sh\n")
    (root / "sub" / "deep" / "run").chmod(0o755)
    for number in range(40):
        (root / "sub" / f"n{number}").write_text(str(number))
    os.mkfifo(root / "fifo")
    return root


def contents(root: Path) -> dict[str, tuple[bytes, int] | None]:
    return {
        str(path.relative_to(root)): (path.read_bytes(), path.stat().st_mode & 0o777) if path.is_file() else None
        for path in root.rglob("*")
        if not path.is_fifo()
    }


@pytest.fixture
def remote() -> str:
    return f"r-{secrets.token_hex(4)}"


def test_a_directory_comes_back_as_it_was_sent(gateway: Stack, tree: Path, remote: str, tmp_path: Path) -> None:
    assert main(["cp", str(tree), f":{remote}"]) == 0
    assert main(["cp", f"local:{remote}", str(tmp_path / "back")]) == 0
    assert contents(tmp_path / "back") == contents(tree)


def test_a_destination_that_is_a_directory_gets_the_source_below_its_name(
    gateway: Stack, tree: Path, remote: str, tmp_path: Path
) -> None:
    main(["cp", str(tree / "small"), f":{remote}/"])
    main(["cp", str(tree), f":{remote}"])
    (tmp_path / "back").mkdir()
    main(["cp", f":{remote}/tree", str(tmp_path / "back")])
    main(["cp", f":{remote}/small", str(tmp_path / "back")])
    assert contents(tmp_path / "back" / "tree") == contents(tree)
    assert (tmp_path / "back" / "small").read_bytes() == b"x"


def test_json_counts_what_was_copied(
    gateway: Stack, tree: Path, remote: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cp", "--json", str(tree / "small"), f":{remote}"]) == 0
    assert json.loads(capsys.readouterr().out) == {"files": 1, "bytes": 1}


def test_what_does_not_exist_is_reported(gateway: Stack, remote: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cp", "/no/such/file", f":{remote}"]) == 1
    assert main(["cp", f":{remote}", "/tmp/never"]) == 1
    shown = capsys.readouterr().err
    assert "/no/such/file: No such file" in shown
    assert "not_found" in shown


@pytest.mark.parametrize("paths", [("a", "b"), (":a", ":b")])
def test_exactly_one_end_is_in_a_sandbox(paths: tuple[str, str]) -> None:
    assert main(["cp", *paths]) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("box:dir/file", ("box", "dir/file")),
        (":file", ("", "file")),
        ("box:", ("box", ".")),
        ("file", None),
        ("./a:b", None),
        ("/a:b", None),
    ],
)
def test_a_path_in_a_sandbox_has_a_colon_before_any_slash(text: str, expected: tuple[str, str] | None) -> None:
    assert remote_path(text) == expected
