import subprocess
import sys
from collections.abc import Callable

import click
import pexpect
import pytest

from hawse.cli import main
from hawse.cli.confirm import confirm
from tests.support.stack import Stack

ASKING = [
    ["sandbox", "rm", "x"],
    ["backup", "rm", "x"],
    ["backup", "restore", "x"],
    ["image", "rm", "x"],
    ["token", "revoke", "x"],
    ["share", "revoke", "x"],
]


@pytest.mark.parametrize("argv", ASKING, ids=" ".join)
def test_what_removes_something_kept_refuses_without_a_terminal_to_ask_at(
    gateway: Stack, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert "pass --yes" in capsys.readouterr().err


@pytest.mark.parametrize("argv", ASKING, ids=" ".join)
def test_it_asks_at_a_terminal_and_no_is_respected(gateway: Stack, argv: list[str]) -> None:
    asking = pexpect.spawn(sys.executable, ["-m", "hawse.cli", *argv], timeout=60, encoding="utf-8")
    try:
        asking.expect_exact("[y/N]: ")
        asking.sendline("n")
        asking.expect(pexpect.EOF)
        asking.close()
        assert asking.exitstatus == 130
    finally:
        asking.close(force=True)


@pytest.mark.parametrize("option", ["-y", "--yes", "-f", "--force"])
def test_an_option_answers(gateway: Stack, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["token", "revoke", option, "x"]) == 1
    assert "not_found" in capsys.readouterr().err


def test_nothing_is_asked_with_yes(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Callable[..., None] = lambda *_, **__: pytest.fail("asked")  # noqa: E731
    monkeypatch.setattr(click, "confirm", asked)
    confirm("Remove everything?", yes=True)


def test_closed_standard_streams_are_no_terminal_to_ask_at() -> None:
    line = f"{sys.executable} -m hawse.cli sandbox rm nope <&-; {sys.executable} -m hawse.cli shell <&- >&-"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, timeout=60)
    assert "pass --yes" in done.stderr
    assert "must be a terminal" in done.stderr
    assert "Traceback" not in done.stderr
