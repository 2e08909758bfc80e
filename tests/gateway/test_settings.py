from pathlib import Path
from typing import Any

import pytest

from gateway.settings import Settings, SettingsError, is_loopback

LONG = "0123456789abcdef"


def settings(**values: Any) -> Settings:
    return Settings(state=Path("/nonexistent"), **values)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1"])
def test_on_loopback_a_token_is_made_up(host: str) -> None:
    assert is_loopback(host)
    settings(host=host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "localhost.example.org"])
def test_elsewhere_it_has_to_be_chosen(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(SettingsError, match="--token or HAWSE_TOKEN"):
        settings(host=host).check()
    settings(host=host, token=LONG).check()


def test_a_token_that_can_be_guessed_is_refused_where_others_may_try() -> None:
    settings(token="short").check()
    with pytest.raises(SettingsError, match="16 characters"):
        settings(host="0.0.0.0", token=LONG[1:]).check()


@pytest.mark.parametrize("token", ["", "ü" * 20, "a\nb"])
def test_a_token_that_fits_no_header_is_refused(token: str) -> None:
    with pytest.raises(SettingsError, match="printable ASCII"):
        settings(token=token).check()


@pytest.mark.parametrize("origin", ["example.org", "null", "https://", "https://example.org/path"])
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(SettingsError, match="--allow-origin"):
        settings(origins=[origin]).check()
    settings(origins=["https://example.org"]).check()


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", ".a", "a/"])
def test_what_is_no_name_cannot_have_previews_below_it(name: str) -> None:
    with pytest.raises(SettingsError, match="--preview-host"):
        settings(preview_host=name).check()
    settings(preview_host="previews.example.org").check()
    settings(preview_host=None).check()


def test_no_room_for_anybody_is_refused() -> None:
    with pytest.raises(SettingsError, match="--max-connections"):
        settings(max_connections=0).check()


def test_a_quota_of_nothing_is_refused() -> None:
    with pytest.raises(SettingsError, match="--quota"):
        settings(quota=0).check()


def test_a_log_format_that_nobody_knows_is_refused() -> None:
    with pytest.raises(SettingsError, match="text or json"):
        settings(log_format="xml").check()
    settings(log_format="json").check()
