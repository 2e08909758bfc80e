import json
import secrets
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from hawse.cli import main
from hawse.cli.target import Target
from hawse.client import Client, Sandbox
from tests.support.stack import Stack


@pytest.fixture
def directory(gateway: Stack) -> str:
    """A directory of the sandbox that contains `a` and `.hidden/b`."""
    name = f"d-{secrets.token_hex(4)}"

    async def work(client: Client, box: Sandbox) -> None:
        await box.files.write_text(f"{name}/a", "hello\n", mode=0o600)
        await box.files.write_text(f"{name}/.hidden/b", "x" * 2048)

    Target(url=gateway.base, token=gateway.token).run(work)
    return name


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Sets a shell script as the editor; the file is $1."""

    def use(script: str) -> None:
        path = tmp_path / "editor"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("VISUAL", str(path))

    return use


def test_the_other_files_are_printed_if_one_is_missing(directory: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cat", f"{directory}/a", f"{directory}/missing", f"{directory}/a"]) == 1
    printed = capfd.readouterr()
    assert printed.out == "hello\nhello\n"
    assert printed.err.startswith(f"Error: {directory}/missing: not_found")


def test_a_directory_is_listed_by_name(directory: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", directory]) == 0
    assert capfd.readouterr().out == "a\n"
    assert main(["ls", "-aR", directory]) == 0
    assert capfd.readouterr().out == ".hidden/\n.hidden/b\na\n"


def test_the_long_form_has_mode_and_size(directory: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["ls", "-laR", directory])
    lines = capfd.readouterr().out.splitlines()
    assert lines[2].startswith("-rw-r--r--  2.0 KiB")
    assert lines[3].startswith("-rw-------  6 B")


def test_json_has_every_field(directory: str, capfd: pytest.CaptureFixture[str]) -> None:
    main(["ls", "--json", directory])
    (entry,) = json.loads(capfd.readouterr().out)
    assert (entry["path"], entry["size"], entry["mode"]) == ("a", 6, 0o600)


def test_cat_prints_files_one_after_the_other(directory: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cat", f"{directory}/a", f"{directory}/a"]) == 0
    assert capfd.readouterr().out == "hello\nhello\n"


def test_a_missing_file_is_reported(directory: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["cat", f"{directory}/missing"]) == 1
    assert "not_found" in capfd.readouterr().err


def test_a_path_may_have_the_colon_of_a_copy(directory: str, editor, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", f":{directory}"]) == main(["cat", f":{directory}/a"]) == 0
    assert capfd.readouterr().out == "a\nhello\n"
    editor("echo changed > $1")
    assert main(["edit", f":{directory}/a"]) == main(["cp", f":{directory}/a", "-"]) == main(["ls", ":"]) == 0
    assert capfd.readouterr().out.startswith("saved, 8 B\nchanged\n")


def test_an_edited_file_is_saved(directory: str, editor, capfd: pytest.CaptureFixture[str]) -> None:
    editor('printf edited > "$1"')
    assert main(["edit", f"{directory}/a"]) == 0
    main(["cat", f"{directory}/a"])
    assert capfd.readouterr().out == "saved, 6 B\nedited"


def test_json_says_whether_a_file_was_saved(directory: str, editor, capfd: pytest.CaptureFixture[str]) -> None:
    editor("true")
    assert main(["edit", "--json", f"{directory}/a"]) == 0
    assert '"saved":false' in capfd.readouterr().out
    editor('printf edited > "$1"')
    assert main(["edit", "--json", f"{directory}/a"]) == 0
    assert capfd.readouterr().out == '{"saved":true,"bytes":6}\n'


def test_a_file_that_does_not_exist_is_created(directory: str, editor, capfd: pytest.CaptureFixture[str]) -> None:
    editor('printf new > "$1"')
    main(["edit", f"{directory}/new"])
    main(["cat", f"{directory}/new"])
    assert capfd.readouterr().out.endswith("new")


def test_an_unchanged_file_is_not_written(directory: str, editor, capfd: pytest.CaptureFixture[str]) -> None:
    editor("true")
    assert main(["edit", f"{directory}/a"]) == 0
    assert capfd.readouterr().out == "not changed\n"


def test_a_change_in_the_sandbox_meanwhile_is_not_overwritten(
    directory: str, editor, capfd: pytest.CaptureFixture[str], gateway: Stack
) -> None:
    workspace = gateway.state / "sandboxes" / "local" / "workspace"
    editor(f'printf theirs > {workspace}/{directory}/a; printf mine > "$1"')
    assert main(["edit", f"{directory}/a"]) == 1
    message = capfd.readouterr().err
    assert "has changed in the sandbox" in message
    assert Path(message.strip().rpartition(" ")[2]).read_text() == "mine"
    main(["cat", f"{directory}/a"])
    assert capfd.readouterr().out == "theirs"


def test_an_editor_that_fails_saves_nothing(directory: str, editor, capfd: pytest.CaptureFixture[str]) -> None:
    editor('printf broken > "$1"; exit 2')
    assert main(["edit", f"{directory}/a"]) == 1
    assert "exit code 2" in capfd.readouterr().err
    main(["cat", f"{directory}/a"])
    assert capfd.readouterr().out == "hello\n"


def test_a_signal_ends_the_editor_and_names_the_file_that_has_the_text(directory: str, editor) -> None:
    editor("echo changed >> $1; echo edits $$; exec sleep 1000")
    argv = [sys.executable, "-m", "hawse.cli", "edit", f"{directory}/a"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        pid = int(command.stdout.readline().removeprefix("edits "))
        command.send_signal(signal.SIGTERM)
        left = Path(command.stderr.read().removeprefix("your text is in ").strip())
        assert command.wait() == -signal.SIGTERM
    assert left.read_text() == "hello\nchanged\n"
    assert not psutil.pid_exists(pid)
    left.unlink()
    left.parent.rmdir()


def test_an_archive_is_unpacked_and_what_exists_is_not_replaced_unasked(
    gateway: Stack, capfd: pytest.CaptureFixture[str]
) -> None:
    async def pack(client: Client, box: Sandbox) -> None:
        await box.exec("mkdir -p packed && echo x > packed/f && tar czf packed.tgz packed", check=True)

    Target(url=gateway.base, token=gateway.token).run(pack)
    assert main(["extract", "packed.tgz", "unpacked", "--strip", "1"]) == 0
    assert capfd.readouterr().out == "1 entries, 2 B\n"
    assert main(["extract", "packed.tgz", "unpacked", "--strip", "1"]) == 1
    assert "conflict: packed/f exists" in capfd.readouterr().err
    assert main(["extract", "packed.tgz", "unpacked", "--strip", "1", "--overwrite", "--json"]) == 0
    assert json.loads(capfd.readouterr().out) == {"entries": 1, "bytes": 2, "skipped": 0}
    assert main(["extract", "packed.tgz", "--max-bytes", "1", "--overwrite"]) == 1
    assert "too_large" in capfd.readouterr().err
