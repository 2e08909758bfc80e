import pytest

from hawse.cli.each import for_each, report
from hawse.cli.target import Target
from hawse.client import Client, GaveUpError, Sandbox
from hawse.wire import HawseError
from tests.support.stack import Stack


def test_each_name_is_tried_and_each_failure_is_reported(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    async def act(client: Client, box: Sandbox, name: str) -> str:
        if name.startswith("bad"):
            raise HawseError("not_found", f"unknown {name}")
        return name.upper()

    target = Target(url=gateway.base, token=gateway.token)
    assert for_each(target, ["a", "bad1", "b", "bad2"], act) == (["A", "B"], 1)
    assert capsys.readouterr().err == "Error: bad1: not_found: unknown bad1\nError: bad2: not_found: unknown bad2\n"
    assert for_each(target, ["a"], act) == (["A"], 0)


def test_without_a_connection_the_other_names_are_not_tried(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    tried: list[str] = []

    async def act(client: Client, box: Sandbox, name: str) -> None:
        tried.append(name)
        raise GaveUpError("no connection")

    with pytest.raises(Exception, match="no connection"):
        for_each(Target(url=gateway.base, token=gateway.token), ["a", "b"], act)
    assert tried == ["a"]


def test_control_characters_of_a_name_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    report("a\x1b", HawseError("not_found", "missing"))
    assert capsys.readouterr().err == "Error: a\\x1b: not_found: missing\n"
