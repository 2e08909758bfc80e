import pytest

from hawse.cli import main
from hawse.cli.command import COMMANDS
from hawse.cli.man import escaped


def test_the_page_describes_each_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["man"]) == 0
    page = capsys.readouterr().out
    assert page.startswith('.TH HAWSE 1 "" "hawse ')
    for name in COMMANDS:
        assert f"\n.SS hawse {name} " in page, name
    assert "\n.SS hawse sandbox create " in page
    assert r"\fB\-\-detach\-key" in page


def test_text_is_printed_as_it_is() -> None:
    assert escaped(r".a-b\c") == r"\&.a\-b\ec"
    assert escaped("#token=…") == r"#token=\[u2026]"
    assert escaped("'quoted") == r"\&'quoted"
