"""The isolation of sandboxes, by request and by support."""

import sys
from pathlib import Path

import pytest

from hawse_gateway.providers.isolation.bubblewrap import PACKAGE
from hawse_gateway.providers.isolation.choice import choose_isolation
from hawse_gateway.providers.state_directory import StateError


def test_isolation_none_is_used_on_request() -> None:
    assert choose_isolation("none") == ("none", "requested by --isolation none", False)


def test_the_packaged_bwrap_is_used_if_the_system_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert choose_isolation("bubblewrap") == ("bubblewrap", None, True)


def test_without_bwrap_auto_reports_the_reason_and_bubblewrap_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setitem(sys.modules, PACKAGE, None)  # as if it were not installed
    assert choose_isolation("auto") == ("none", "bwrap is not installed: apt install bubblewrap", False)
    with pytest.raises(StateError, match="bwrap is not installed"):
        choose_isolation("bubblewrap")


def test_a_bwrap_that_does_not_work_is_always_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in (tmp_path, *tmp_path.parents):
        if len(folder.parts) > 2:
            folder.chmod(folder.stat().st_mode | 0o711)  # the user of the sandbox runs it
    bwrap = tmp_path / "bwrap"
    bwrap.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    bwrap.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert choose_isolation("auto") == ("none", "No permissions to create new namespace", False)
    with pytest.raises(StateError, match="No permissions"):
        choose_isolation("bubblewrap")


def test_bubblewrap_is_used_where_it_works() -> None:
    assert choose_isolation("auto") == ("bubblewrap", None, True)
