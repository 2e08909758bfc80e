import json
import os
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from hawse.cli import main
from hawse.cli.commands.copy import local_destination, remote_path
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
    (root / "link").symlink_to("sub/big")
    (root / "sub" / "deep" / "up").symlink_to("..")
    (root / "dangling").symlink_to("/no such place")
    return root


def contents(root: Path) -> dict[str, tuple[bytes, int] | str | None]:
    """The content and mode of each file, the target of each symlink, None for directories; FIFOs are left out."""
    found: dict[str, tuple[bytes, int] | str | None] = {}
    for path in root.rglob("*"):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = os.readlink(path)
        elif path.is_file():
            found[name] = path.read_bytes(), path.stat().st_mode & 0o777
        elif path.is_dir():
            found[name] = None
    return found


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
    assert json.loads(capsys.readouterr().out) == {
        "files": 1,
        "bytes": 1,
        "links": 0,
        "skipped": [],
        "failed": [],
    }


def test_special_files_are_named_and_not_copied(
    gateway: Stack, tree: Path, remote: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cp", str(tree), f":{remote}"]) == 0
    assert "not copied, because they are FIFOs, sockets or devices: fifo\n" in capsys.readouterr().err
    assert main(["exec", "-n", "--", "mkfifo", f"{remote}/inside"]) == 0
    assert main(["cp", "--json", f":{remote}", str(tmp_path / "back")]) == 0
    assert json.loads(capsys.readouterr().out)["skipped"] == ["inside"]


def test_what_does_not_exist_is_reported(gateway: Stack, remote: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cp", "/no/such/file", f":{remote}"]) == 1
    assert main(["cp", f":{remote}", "/tmp/never"]) == 1
    shown = capsys.readouterr().err
    assert "/no/such/file: No such file" in shown
    assert "not_found" in shown


def test_a_directory_is_copied_from_sandbox_to_sandbox(
    gateway: Stack, tree: Path, remote: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["sandbox", "create", remote]) == 0
    try:
        assert main(["cp", str(tree), f":{remote}"]) == 0
        assert main(["cp", f":{remote}", f"{remote}:place/"]) == 0
        capsys.readouterr()
        assert main(["cp", f"{remote}:place/{remote}", str(tmp_path / "back")]) == 0
        assert capsys.readouterr().err == "44 files, 3 symlinks copied\n"
        assert contents(tmp_path / "back") == contents(tree)
    finally:
        main(["sandbox", "rm", "--yes", remote])


def test_a_copy_replaces_files_and_symlinks_of_an_earlier_one(
    gateway: Stack, tree: Path, remote: str, tmp_path: Path
) -> None:
    for _ in range(2):
        assert main(["cp", str(tree), f":{remote}/"]) == 0
        assert main(["cp", f":{remote}/tree", f"{tmp_path}/back/"]) == 0
        assert contents(tmp_path / "back" / "tree") == contents(tree)
        (tree / "link").unlink()
        (tree / "link").symlink_to("small")
        (tree / "small").write_bytes(b"changed")


def test_what_is_in_a_directory_is_copied_into_another(gateway: Stack, tree: Path, remote: str, tmp_path: Path) -> None:
    main(["exec", "mkdir", "-p", f"{remote}/other"])
    assert main(["cp", f"{tree}/.", f":{remote}"]) == 0
    (tmp_path / "back").mkdir()
    assert main(["cp", f":{remote}/.", str(tmp_path / "back")]) == 0
    assert contents(tmp_path / "back") == contents(tree) | {"other": None}


def test_a_directory_in_the_place_of_a_symlink_is_reported(
    gateway: Stack, tree: Path, remote: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["exec", "mkdir", "-p", f"{remote}/link"])
    assert main(["cp", f"{tree}/.", f":{remote}"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("link: is_directory: ")
    assert shown.endswith("2 symlinks copied, 1 not\n")


def test_standard_input_and_output_are_files(gateway: Stack, remote: str) -> None:
    data = os.urandom(3 << 20)
    hawse = [sys.executable, "-m", "hawse.cli", "cp"]
    subprocess.run([*hawse, "-", f":{remote}"], input=data, check=True, timeout=60)
    done = subprocess.run([*hawse, f":{remote}", "-"], capture_output=True, check=True, timeout=60)
    assert done.stdout == data
    assert done.stderr == b""


def test_standard_input_has_no_name(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cp", "-", ":directory/"]) == 2
    assert "has no name" in capsys.readouterr().err


def test_one_end_at_least_is_in_a_sandbox() -> None:
    assert main(["cp", "a", "b"]) == 2
    assert main(["cp", "-", "-"]) == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("box:dir/file", ("box", "dir/file")),
        (":file", ("", "file")),
        ("box:", ("box", ".")),
        ("file", None),
        ("./a:b", None),
        ("/a:b", None),
        ("-", None),
    ],
)
def test_a_path_in_a_sandbox_has_a_colon_before_any_slash(text: str, expected: tuple[str, str] | None) -> None:
    assert remote_path(text) == expected


def test_a_local_destination_that_is_a_directory_gets_the_name(tmp_path: Path) -> None:
    assert local_destination(str(tmp_path), "n") == tmp_path / "n"
    assert local_destination(f"{tmp_path}/new/", "n") == tmp_path / "new" / "n"
    assert local_destination(f"{tmp_path}/new", "n") == tmp_path / "new"


def test_what_cannot_be_copied_is_named_and_the_rest_is_copied(
    gateway: Stack, tree: Path, remote: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cp", str(tree), f":{remote}"]) == 0
    (tmp_path / "back" / "small").mkdir(parents=True)
    capsys.readouterr()
    assert main(["cp", f":{remote}/.", f"{tmp_path}/back"]) == 1
    shown = capsys.readouterr().err
    assert shown.startswith("small: Is a directory\n")
    assert shown.endswith("43 files, 3 symlinks copied, 1 not\n")
    (tmp_path / "back" / "small").rmdir()
    assert contents(tmp_path / "back") == {name: what for name, what in contents(tree).items() if name != "small"}
    (tmp_path / "back" / "small").mkdir()
    assert main(["cp", "--json", f":{remote}/.", f"{tmp_path}/back"]) == 1
    assert json.loads(capsys.readouterr().out)["failed"] == ["small"]


def test_options_of_cp_are_accepted(gateway: Stack, tree: Path, remote: str, tmp_path: Path) -> None:
    assert main(["cp", "-r", str(tree), f":{remote}"]) == 0
    assert main(["cp", "-a", "-p", f":{remote}", f"{tmp_path}/back"]) == 0
    assert contents(tmp_path / "back") == contents(tree)


def test_an_existing_directory_that_gets_what_is_in_another_keeps_its_mode(
    gateway: Stack, tree: Path, remote: str, tmp_path: Path
) -> None:
    main(["cp", str(tree), f":{remote}"])
    (tmp_path / "back").mkdir(mode=0o711)
    assert main(["cp", f":{remote}/.", f"{tmp_path}/back"]) == 0
    assert (tmp_path / "back").stat().st_mode & 0o777 == 0o711
