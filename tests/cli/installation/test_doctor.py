import json

import pytest

from hawse.cli import main
from hawse.client import config
from tests.support.stack import Stack, free_port


def test_a_gateway_that_works_passes_every_check(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    shown = capsys.readouterr().out
    assert "FAIL" not in shown
    assert "sandbox local" in shown
    assert "ok    backups: 0 backups, 0 B of 100" in shown
    for name in ("filtered networks", "mounts", "desktop", "git", "code in python"):
        assert f"ok    {name}: " in shown
    assert "`true` in sandbox local ended with exit code 0" in shown


def test_the_apparmor_profile_is_all_that_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--apparmor"]) == 0
    assert capsys.readouterr().out.startswith("abi <abi/4.0>,\n")


def test_a_token_in_the_address_is_used_and_not_printed(
    gateway: Stack, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HAWSE_TOKEN")
    assert main(["doctor", "--url", f"{gateway.base}/#token={gateway.token}"]) == 0
    shown = capsys.readouterr().out
    assert "ok    gateway: " in shown
    assert gateway.token not in shown


def test_a_gateway_that_does_not_answer_fails(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hawse.cli.installation.doctor.TIMEOUT", 0.5)
    assert main(["doctor", "--url", f"http://127.0.0.1:{free_port()}", "--token", "t", "--json"]) == 1
    found = {each["name"]: each for each in json.loads(capsys.readouterr().out)}
    assert found["connection"]["result"] == "failed"
    assert found["hawse"]["result"] == "ok"


def test_a_wrong_token_fails_with_a_hint(gateway: Stack, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--token", "wrong"]) == 1
    assert "hawse login" in capsys.readouterr().out


def test_damaged_settings_fail(capsys: pytest.CaptureFixture[str]) -> None:
    config.save(config.Gateway("http://a", "t")).write_text("{")
    assert main(["doctor"]) == 1
    assert "is not valid" in capsys.readouterr().out
