import io
import json
from pathlib import Path

import pytest

from hawse.cli import main
from hawse.client import config
from tests.support.stack import Stack


def test_the_address_as_serve_prints_it_is_checked_and_saved(
    stack: Stack, configuration: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["login", stack.url]) == 0
    assert "signed in as owner" in capsys.readouterr().out
    saved = json.loads((configuration / "hawse" / "config.json").read_text())
    assert saved == {"url": stack.base, "token": stack.token}


def test_scripts_get_json(stack: Stack, configuration: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", stack.url, "--json"]) == 0
    saved = str(configuration / "hawse" / "config.json")
    assert json.loads(capsys.readouterr().out) == {"url": stack.base, "role": "owner", "file": saved}
    for forgotten in (True, False):
        assert main(["logout", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"forgotten": forgotten}


def test_a_wrong_token_is_not_saved(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", stack.base, "--token", "wrong"]) == 1
    assert "unauthenticated" in capsys.readouterr().err
    assert config.load() is None


def test_the_token_is_read_from_a_pipe(stack: Stack, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{stack.token}\n"))
    assert main(["login", stack.base]) == 0
    saved = config.load()
    assert saved is not None
    assert saved.token == stack.token
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["login", stack.base]) == 1
    assert "no token: pass --token" in capsys.readouterr().err


def test_an_invalid_address_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["login", "ftp://example.org", "--token", "t"]) == 1
    assert "is not a gateway URL" in capsys.readouterr().err


def test_logout_forgets(stack: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    main(["login", stack.url])
    assert main(["logout"]) == 0
    assert config.load() is None
    assert main(["logout"]) == 0
    assert "nothing was saved" in capsys.readouterr().out
