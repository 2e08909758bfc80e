"""`hawse desktop` against a real sandbox."""

import json
from pathlib import Path

import pytest

from hawse.cli import main
from tests.support.stack import Stack


def test_a_desktop_is_started_seen_driven_and_stopped(
    gateway: Stack, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["desktop", "start", "--width", "320", "--height", "200"]) == 0
    assert capsys.readouterr().out.startswith("DISPLAY=:")
    try:
        main(["desktop", "ls"])
        assert "main  320x200" in capsys.readouterr().out
        main(["desktop", "ls", "--json"])
        assert json.loads(capsys.readouterr().out)[0]["id"] == "main"
        assert main(["desktop", "record", "--title", "A demo"]) == 0
        name = capsys.readouterr().out.strip()
        assert main(["desktop", "record", "--stop"]) == 0
        assert capsys.readouterr().out.strip() == name
        main(["recordings"])
        assert "desktop main  finished" in capsys.readouterr().out
        assert main(["play", name]) == 1
        assert "play it in the page" in capsys.readouterr().err
        assert main(["play", name, "--output", str(tmp_path / "d.cast")]) == 0
        assert b"hawse-desktop" in (tmp_path / "d.cast").read_bytes()
        assert main(["recordings", "--delete", name, "--yes"]) == 0
        for action in (["click", "5", "6"], ["type", "text"], ["key", "ctrl+a"]):
            assert main(["desktop", *action]) == 0
        assert main(["desktop", "launch", "sleep", "1000"]) == 0
        assert capsys.readouterr().out.startswith("p-")
        assert main(["desktop", "windows", "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == []
        assert main(["desktop", "screenshot", str(tmp_path / "s.webp")]) == 0
        assert (tmp_path / "s.webp").read_bytes()[8:12] == b"WEBP"
        assert main(["desktop", "screenshot", str(tmp_path / "s.gif")]) == 2
    finally:
        main(["desktop", "stop"])
    capsys.readouterr()
    main(["desktop", "ls", "--json"])
    assert json.loads(capsys.readouterr().out) == []
