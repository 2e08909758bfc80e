from pathlib import Path

import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.transport.settings import ProxySettings, ServerSettings, TlsSettings, is_loopback

LONG = "0123456789abcdef"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1"])
def test_on_loopback_a_token_is_generated(host: str) -> None:
    assert is_loopback(host)
    ServerSettings(host=host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "localhost.example.org"])
def test_other_addresses_require_an_explicit_token(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(SettingsError, match="--token or HAWSE_TOKEN"):
        ServerSettings(host=host).check()
    ServerSettings(host=host, token=LONG).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_short_token_is_refused_also_on_loopback(host: str) -> None:
    ServerSettings(host=host, token=LONG).check()
    for token in ("", "a", LONG[1:]):
        with pytest.raises(SettingsError, match="at least 16 characters"):
            ServerSettings(host=host, token=token).check()


@pytest.mark.parametrize("token", ["ü" * 20, "a\nb" * 20])
def test_a_token_that_cannot_be_in_a_header_is_refused(token: str) -> None:
    with pytest.raises(SettingsError, match="printable ASCII"):
        ServerSettings(token=token).check()


def test_a_key_without_its_certificate_is_refused() -> None:
    with pytest.raises(SettingsError, match="--tls-key needs --tls-cert"):
        TlsSettings(tls_key=Path("key.pem")).check()
    TlsSettings(tls_cert=Path("both.pem")).check()


@pytest.mark.parametrize("proxy", ["proxy.example", "*", "", "10.0.0.1/8", "127.0.0.1:80"])
def test_a_proxy_that_is_neither_an_address_nor_a_network_is_refused(proxy: str) -> None:
    with pytest.raises(SettingsError, match="--trust-proxy"):
        ProxySettings(proxies=[proxy]).check()
    ProxySettings(proxies=["127.0.0.1", "::1", "10.0.0.0/8"]).check()
