import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hawse.cli import main
from tests.support.stack import Stack, free_port

# `hawse join` as a process, with its resume and its end, is in tests/integration/test_join.py.


class Interrupt:
    """Sends SIGINT to this process when a text was printed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
        import click

        self.printed: list[str] = []
        echo = click.echo

        def note(message: object = None, *arguments: object, **options: object) -> None:
            self.printed.append(str(message))
            if text in str(message):
                threading.Timer(0, os.kill, (os.getpid(), signal.SIGINT)).start()

        monkeypatch.setattr("hawse.cli.commands.join.click.echo", note)
        assert echo is not note


@pytest.fixture(autouse=True)
def state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "xdg"))


def test_the_present_directory_is_shared_with_a_link_until_ctrl_c(
    gateway: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    interrupt = Interrupt(monkeypatch, "Press Ctrl-C")
    assert main(["share", "here"]) == 0
    text = "\n".join(interrupt.printed)
    assert f"directory  {tmp_path}" in text
    assert f"{gateway.base}/?sandbox=" in text
    assert "Anyone with the link can watch" in text
    assert "ended: the machine's user has ended it" in text


def test_a_link_to_a_sandbox_that_remains_is_revoked_at_the_end(
    gateway: Stack, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sandbox", "create", "kept", "--provider", "joined"]) == 0
    interrupt = Interrupt(monkeypatch, "Press Ctrl-C")
    assert main(["join", "-s", "kept", "--share=write"]) == 0
    (line,) = [line for line in interrupt.printed if "Anyone with the link can type" in line]
    link = line.partition("`hawse share revoke ")[2].partition("`")[0]
    assert link.startswith("link-")
    assert main(["share", "revoke", "--yes", link]) == 1
    assert "not_found" in interrupt.printed[-1]
    assert main(["sandbox", "delete", "--yes", "kept"]) == 0


def test_a_gateway_that_does_not_run_is_reported_at_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["join", f"http://127.0.0.1:{free_port()}", "--directory", str(tmp_path)]) == 1
    text = capsys.readouterr().err
    assert "was refused" in text
    assert "no connection within" not in text, "it has not tried again"


def test_a_refusal_is_reported(gateway: Stack, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["join", "--token", "wrong", "--directory", str(tmp_path)]) == 1
    assert "unauthenticated" in capsys.readouterr().err
    assert main(["join", "--token", gateway.viewer_token, "--directory", str(tmp_path)]) == 1
    assert "forbidden" in capsys.readouterr().err
    assert main(["join", "nonsense", "--directory", str(tmp_path)]) == 1
    assert "not a gateway URL" in capsys.readouterr().err
    assert main(["join", "--directory", str(tmp_path / "missing")]) == 2


def test_a_token_for_joining_makes_no_links(gateway: Stack, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["token", "create", "--role", "joiner", "--only", "laptop"]) == 0
    token = capsys.readouterr().out.strip()
    assert main(["join", "--token", token, "--share=view", "--directory", str(tmp_path)]) == 1
    assert "forbidden" in capsys.readouterr().err
    assert main(["join", "--token", token, "--directory", str(tmp_path)]) == 1
    assert "not_found" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_deletes_the_sandbox_that_was_created_for_this(
    gateway: Stack, capsys: pytest.CaptureFixture[str], tmp_path: Path, number: signal.Signals
) -> None:
    argv = [sys.executable, "-m", "hawse.cli", "join", "--directory", str(tmp_path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while "Press Ctrl-C" not in process.stdout.readline():
            pass
        process.send_signal(number)
        assert process.wait() == -number
    assert main(["sandbox", "ls", "--json"]) == 0
    assert [each["id"] for each in json.loads(capsys.readouterr().out)] == ["local"]
