import json

import pytest

from hawse.cli import main
from tests.support.stack import Stack


def printed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) == 0
    return capsys.readouterr().out.strip()


def test_the_log_is_listed_with_filters_as_a_table_and_as_json(
    gateway: Stack, capsys: pytest.CaptureFixture[str]
) -> None:
    printed(capsys, "token", "create", "--name", "audited")
    printed(capsys, "share", "create", "main")
    rows = printed(capsys, "audit", "--method", "token.", "--since", "1h").splitlines()
    assert rows[0].split() == ["TIME", "USER", "ADDRESS", "SANDBOX", "ACTION", "OUTCOME", "ON"]
    assert "token.create" in rows[-1]
    assert "ok" in rows[-1].split()
    found = json.loads(printed(capsys, "audit", "--json", "--method", "share.create", "--in", "local", "-n", "1"))
    assert (found[0]["action"], found[0]["user"], found[0]["on"]["terminal"]) == ("share.create", "owner", "main")


def test_a_filter_that_matches_nothing_prints_no_entry(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(printed(capsys, "audit", "--json", "--user", "nobody-of-this-name")) == []
