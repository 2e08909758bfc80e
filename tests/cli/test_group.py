import click
import pytest

from hawse.cli import main
from hawse.cli.group import Group
from tests.support.stack import Stack


@click.group(cls=Group)
def things() -> None:
    """A group of the tests."""


@things.command("ls")
def list_things() -> None:
    click.echo("listed")


@things.command()
def revoke() -> None:
    click.echo("revoked")


@pytest.mark.parametrize(
    ("word", "printed"),
    [("ls", "listed"), ("list", "listed"), ("revoke", "revoked"), ("rm", "revoked"), ("delete", "revoked")],
)
def test_an_action_has_synonyms(word: str, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    things.main([word], standalone_mode=False)
    assert capsys.readouterr().out == f"{printed}\n"


def test_a_synonym_is_not_shown_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    things.main(["--help"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "ls" in shown
    assert "list\n" not in shown


@pytest.mark.parametrize(
    ("argv", "hint"), [(["shel"], "'shell'"), (["sandbox", "crate"], "'create'"), (["token", "revok", "x"], "'revoke'")]
)
def test_a_wrong_name_has_a_suggestion(argv: list[str], hint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv) == 2
    assert f"Did you mean {hint}?" in capsys.readouterr().err


def test_a_name_that_is_like_no_other_has_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["zzzzzz"]) == 2
    assert "No such command 'zzzzzz'.\n" in capsys.readouterr().err


@pytest.mark.parametrize("group", ["sandbox", "backup", "token", "share", "port"])
def test_each_group_lists_with_the_same_word(gateway: Stack, group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([group, "ls", "--json"]) == 0
    assert main([group, "list", "--json"]) == 0
    assert capsys.readouterr().out
