"""The table of previews and its file."""

from pathlib import Path

import pytest

from hawse.api.sandboxes import SandboxPort
from hawse.wire import HawseError
from hawse_runtime.core.folder import Folder
from hawse_runtime.ports.previews import LIMIT, PreviewTable


def test_previews_are_found_after_a_restart(tmp_path: Path) -> None:
    first = PreviewTable(Folder(tmp_path))
    chosen = first.expose(80, name="web", token="chosentoken")
    random = first.expose(81)
    first.expose(82)
    first.revoke(82)
    second = PreviewTable(Folder(tmp_path))
    assert second.all == [chosen, random]
    assert second.by_token("chosentoken") == chosen
    assert (tmp_path / "previews.json").stat().st_mode & 0o777 == 0o600


def test_a_configured_preview_that_was_revoked_does_not_come_back(tmp_path: Path) -> None:
    ports = [SandboxPort(port=80, token="chosentoken"), SandboxPort(port=81)]
    first = PreviewTable(Folder(tmp_path))
    first.configure(ports)
    first.configure(ports)
    assert [found.port for found in first.all] == [80, 81]
    assert first.revoke(80) is not None
    assert first.revoke(80) is None
    second = PreviewTable(Folder(tmp_path))
    second.configure(ports)
    assert [found.port for found in second.all] == [81]
    second.expose(80)
    assert 80 in PreviewTable(Folder(tmp_path))


@pytest.mark.parametrize("content", ["", "{", '{"exposed": [{"port": "x"}]}'])
def test_a_file_that_is_not_valid_is_reported_and_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: str
) -> None:
    (tmp_path / "previews.json").write_text(content)
    table = PreviewTable(Folder(tmp_path))
    assert table.all == []
    assert "previews are lost" in caplog.text
    table.expose(80)
    assert 80 in PreviewTable(Folder(tmp_path))


def test_a_preview_that_cannot_be_kept_is_not_made(tmp_path: Path) -> None:
    table = PreviewTable(Folder(tmp_path / "file"))
    (tmp_path / "file").write_text("not a directory")
    with pytest.raises(OSError, match="file"):
        table.expose(80)
    assert table.all == []


def test_the_number_of_previews_is_limited_and_a_configuration_beyond_it_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    table = PreviewTable(None)
    for port in range(1, LIMIT + 1):
        table.expose(port)
    with pytest.raises(HawseError, match="limit_exceeded"):
        table.expose(LIMIT + 1)
    table.configure([SandboxPort(port=LIMIT + 1)])
    assert "limit_exceeded" in caplog.text
