"""What a caller gives to run a program."""

from typing import Any

import pytest

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


def test_start_options_have_defaults_and_an_unknown_one_is_refused() -> None:
    fields = start_fields("ls", id="p", stdin=True)
    assert (fields["id"], fields["stdin"], fields["timeout"]) == ("p", True, None)
    assert start_fields("ls")["stdin"] is None, "a parameter that is not given is not sent"
    options: Any = {"timeot": 3}
    with pytest.raises(TypeError, match="timeot"):
        start_fields("ls", **options)
