import secrets
import subprocess
import sys

import pytest

from hawse.cli import main
from tests.support.stack import Stack


def test_changes_are_printed_as_they_happen(gateway: Stack) -> None:
    root = gateway.state / "sandboxes" / "local" / "workspace" / f"w-{secrets.token_hex(4)}"
    root.mkdir(parents=True)
    argv = [sys.executable, "-m", "hawse.cli", "watch", str(root), "--exclude", "*.log"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        assert command.stderr.readline() == f"watching {root}\n"
        (root / "no.log").touch()
        (root / "a").touch()
        assert command.stdout.readline() == f"added     {root}/a\n"
        (root / "a").unlink()
        assert command.stdout.readline() == f"deleted   {root}/a\n"
        command.terminate()


def test_a_missing_directory_is_reported(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["watch", "missing-directory"]) == 1
    assert "not_found" in capsys.readouterr().err
