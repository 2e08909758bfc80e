import pytest

from hawse_gateway.auth.settings import AccessSettings
from hawse_gateway.core.settings import SettingsError


@pytest.mark.parametrize("host", ["example.org", "example.org:8443", "[::1]:80"])
def test_a_host_may_have_a_port(host: str) -> None:
    AccessSettings(hosts=[host]).check()


@pytest.mark.parametrize("host", ["", "http://example.org", "a/b", "a:port"])
def test_an_allowed_host_that_is_not_a_host_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match="--allow-host"):
        AccessSettings(hosts=[host]).check()


@pytest.mark.parametrize("origin", ["example.org", "null", "https://", "https://example.org/path"])
def test_an_invalid_origin_is_refused(origin: str) -> None:
    with pytest.raises(SettingsError, match="--allow-origin"):
        AccessSettings(origins=[origin]).check()
    AccessSettings(origins=["https://example.org"]).check()
