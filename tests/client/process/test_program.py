"""Arguments for running a program."""

from pathlib import Path
from typing import Any

import pytest

from hawse.client.base.call_errors import InvalidParamsError
from hawse.client.base.environment import UNATTENDED
from hawse.client.process.program import program, start_fields


def test_a_string_is_for_the_shell_and_a_sequence_an_argv() -> None:
    assert program("ls | wc", cwd=None, env=None, timeout=None)["command"] == "ls | wc"
    assert program(("ls", "-l"), cwd="/", env={"A": None}, timeout=2) == {
        "argv": ["ls", "-l"],
        "command": None,
        "cwd": "/",
        "env": {"A": None},
        "timeout": 2,
    }


def test_an_argument_and_the_directory_may_be_paths() -> None:
    fields = program(["cat", Path("/etc/hosts")], cwd=Path("src"), env=None, timeout=None)
    assert (fields["argv"], fields["cwd"]) == (["cat", "/etc/hosts"], "src")


@pytest.mark.parametrize("timeout", [float("nan"), 0, -1])
def test_a_time_limit_that_is_none_is_refused(timeout: float) -> None:
    with pytest.raises(InvalidParamsError, match="timeout is"):
        program("ls", cwd=None, env=None, timeout=timeout)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (5, "a command must be a string for the shell or a list of strings, not the int 5"),
        (None, "not the NoneType None"),
        (b"ls", "not the bytes b'ls'"),
        ({"ls"}, "not the set {'ls'}"),
        (["sleep", 5], "a command's arguments must be strings, but number 1 is the int 5"),
        (["cat", b"/etc/hosts"], "number 1 is the bytes"),
    ],
)
def test_what_is_no_command_is_refused_with_what_is_allowed(command: Any, message: str) -> None:
    with pytest.raises(InvalidParamsError) as caught:
        program(command, cwd=None, env=None, timeout=None)
    assert message in str(caught.value)


def test_start_options_have_defaults_and_an_unknown_one_is_refused() -> None:
    fields = start_fields("ls", id="p", stdin=True)
    assert (fields["id"], fields["stdin"], fields["timeout"]) == ("p", True, None)
    assert start_fields("ls")["stdin"] is None, "a parameter that is not given is not sent"
    assert start_fields("ls", unattended=True, env={"A": "b"})["env"] == {**UNATTENDED, "A": "b"}
    options: Any = {"timeot": 3}
    with pytest.raises(TypeError, match="timeot"):
        start_fields("ls", **options)
