import pytest

from hawse.cli import main
from hawse.cli.command import COMMANDS
from hawse.cli.installation.man import escaped


def test_the_page_describes_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man"]) == 0
    page = capsys.readouterr().out
    assert page.startswith('.TH HAWSE 1 "" "hawse ')
    for name in COMMANDS:
        assert f"\n.SS hawse {name} " in page, name
    assert "\n.SS hawse sandbox create " in page
    assert r"\fB\-\-detach\-key" in page


def test_the_token_of_a_gateway_is_described_but_not_that_of_each_client(capsys: pytest.CaptureFixture[str]) -> None:
    main(["man"])
    sections = {text.split(" ")[1]: text for text in capsys.readouterr().out.split("\n.SS ")[1:]}
    assert r"\fB\-\-token TEXT" in sections["serve"]
    assert r"\-\-token" not in sections["exec"]


def test_each_entry_has_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    main(["man"])
    assert "" not in capsys.readouterr().out.removesuffix("\n").split("\n")


def test_examples_keep_their_lines(capsys: pytest.CaptureFixture[str]) -> None:
    main(["man"])
    assert "\n.nf\nExamples:\n  hawse shell\n  hawse shell main\n" in capsys.readouterr().out


def test_text_is_printed_as_it_is() -> None:
    assert escaped(r".a-b\c") == r"\&.a\-b\ec"
    assert escaped("#token=…") == r"#token=\[u2026]"
    assert escaped("'quoted") == r"\&'quoted"
