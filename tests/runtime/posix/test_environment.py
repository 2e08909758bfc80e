"""The environment of a program."""

from pathlib import Path

import pytest

from hawse.wire import HawseError
from hawse_runtime.posix.environment import PRIVATE, Environment


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Environment:
    for name in PRIVATE:
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("PYTHONPATH", "/ours")
    monkeypatch.setenv("OLDPWD", "/an/old/directory")
    monkeypatch.setenv("SHARED", "yes")
    monkeypatch.delenv("LANG", raising=False)
    return Environment(tmp_path)


def test_programs_do_not_get_the_variables_of_the_runtime(environment: Environment) -> None:
    env = environment.build(None, cwd="/")
    assert "secret" not in env.values()
    assert not {"PYTHONPATH", "OLDPWD"} & env.keys()
    assert env["SHARED"] == "yes"
    assert env["LANG"] == "C.UTF-8"


def test_extra_variables_add_and_null_unsets(environment: Environment) -> None:
    env = environment.build({"A": "1", "SHARED": None, "NOT_THERE": None}, cwd="/x")
    assert env["A"] == "1"
    assert env["PWD"] == "/x"
    assert "SHARED" not in env
    assert "NOT_THERE" not in env
    assert environment.build(None, cwd="/")["SHARED"] == "yes", "the next program has it again"


def test_only_a_terminal_says_what_terminal_it_is(environment: Environment, monkeypatch: pytest.MonkeyPatch) -> None:
    assert environment.build(None, cwd="/", terminal=True)["TERM"] == "xterm-256color"
    assert environment.build({"TERM": "dumb"}, cwd="/", terminal=True)["TERM"] == "dumb"
    assert environment.build(None, cwd="/").get("TERM_PROGRAM") != "hawse"


@pytest.mark.parametrize("name", ["", "A=B"])
def test_an_invalid_name_is_refused(environment: Environment, name: str) -> None:
    with pytest.raises(HawseError, match=r"invalid_params: invalid environment variable name .* must not"):
        environment.build({name: "x"}, cwd="/")


@pytest.mark.parametrize("extra", [{"a\0": "b"}, {"a": "b\0"}])
def test_a_nul_byte_is_refused(environment: Environment, extra: dict[str, str]) -> None:
    """In a code context, it was `spawn_failed` (a sibling of W6)."""
    with pytest.raises(HawseError, match="invalid_params: env must not contain NUL bytes"):
        environment.build(extra, cwd="/")


def test_a_relative_path_is_within_the_workspace(environment: Environment, tmp_path: Path) -> None:
    assert environment.path("a/../b") == str(tmp_path / "b")
    assert environment.path("/etc") == "/etc"
    assert environment.cwd(None) == str(tmp_path)
    assert environment.cwd("sub") == str(tmp_path / "sub")
    with pytest.raises(HawseError, match="invalid_params"):
        environment.path("a\0b")


def test_an_invalid_cwd_is_reported_with_its_path(environment: Environment) -> None:
    with pytest.raises(HawseError) as refused:
        environment.cwd("a\0b")
    assert refused.value.details == {"path": "$.cwd"}
