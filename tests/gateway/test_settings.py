from pathlib import Path
from typing import Any

import pytest

from hawse_gateway.settings import OidcSettings, Settings, SettingsError, is_loopback

LONG = "0123456789abcdef"


def settings(**values: Any) -> Settings:
    return Settings(state=Path("/nonexistent"), **values)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "localhost", "LOCALHOST", "::1"])
def test_on_loopback_a_token_is_generated(host: str) -> None:
    assert is_loopback(host)
    settings(host=host).check()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "", "localhost.example.org"])
def test_other_addresses_require_an_explicit_token(host: str) -> None:
    assert not is_loopback(host)
    with pytest.raises(SettingsError, match="--token or HAWSE_TOKEN"):
        settings(host=host).check()
    settings(host=host, token=LONG).check()


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_a_short_token_is_refused_also_on_loopback(host: str) -> None:
    settings(host=host, token=LONG).check()
    for token in ("", "a", LONG[1:]):
        with pytest.raises(SettingsError, match="at least 16 characters"):
            settings(host=host, token=token).check()


@pytest.mark.parametrize(
    ("oidc", "message"),
    [
        ({"client_id": "me"}, "need --oidc-issuer"),
        ({"issuer": "https://a", "roles": ["*=viewer"]}, "needs --oidc-client-id for browsers"),
        ({"issuer": "https://a", "client_id": "me"}, "needs --oidc-role"),
        ({"issuer": "https://a", "client_id": "me", "roles": ["*=viewer"], "lifetime": 0}, "--oidc-lifetime"),
    ],
)
def test_an_openid_provider_needs_its_users(oidc: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        settings(oidc=OidcSettings(**oidc)).check()


def test_a_key_without_its_certificate_is_refused() -> None:
    with pytest.raises(SettingsError, match="--tls-key needs --tls-cert"):
        settings(tls_key=Path("key.pem")).check()
    settings(tls_cert=Path("both.pem")).check()


@pytest.mark.parametrize("host", ["example.org", "example.org:8443", "[::1]:80"])
def test_a_host_may_have_a_port(host: str) -> None:
    settings(hosts=[host]).check()


@pytest.mark.parametrize("host", ["", "http://example.org", "a/b", "a:port"])
def test_an_allowed_host_that_is_not_a_host_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match="--allow-host"):
        settings(hosts=[host]).check()


@pytest.mark.parametrize("token", ["ü" * 20, "a\nb" * 20])
def test_a_token_that_cannot_be_in_a_header_is_refused(token: str) -> None:
    with pytest.raises(SettingsError, match="printable ASCII"):
        settings(token=token).check()


@pytest.mark.parametrize("proxy", ["proxy.example", "*", "", "10.0.0.1/8", "127.0.0.1:80"])
def test_a_proxy_that_is_neither_an_address_nor_a_network_is_refused(proxy: str) -> None:
    with pytest.raises(SettingsError, match="--trust-proxy"):
        settings(proxies=[proxy]).check()
    settings(proxies=["127.0.0.1", "::1", "10.0.0.0/8"]).check()


@pytest.mark.parametrize("origin", ["example.org", "null", "https://", "https://example.org/path"])
def test_an_invalid_origin_is_refused(origin: str) -> None:
    with pytest.raises(SettingsError, match="--allow-origin"):
        settings(origins=[origin]).check()
    settings(origins=["https://example.org"]).check()


@pytest.mark.parametrize("name", ["", "a b", "http://a", "a:80", ".a", "a/"])
def test_an_invalid_preview_host_is_refused(name: str) -> None:
    with pytest.raises(SettingsError, match="--preview-host"):
        settings(preview_host=name).check()
    settings(preview_host="previews.example.org").check()
    settings(preview_host=None).check()


def test_a_maximum_of_zero_connections_is_refused() -> None:
    with pytest.raises(SettingsError, match="--max-sandboxes"):
        settings(max_sandboxes=0).check()
    with pytest.raises(SettingsError, match="--store"):
        settings(store="mysql://host").check()
    with pytest.raises(SettingsError, match="--pool"):
        settings(pool=-1).check()
    with pytest.raises(SettingsError, match="--idle-timeout"):
        settings(idle_timeout=0).check()
    with pytest.raises(SettingsError, match="--start-timeout"):
        settings(start_timeout=0).check()
    with pytest.raises(SettingsError, match="--max-connections"):
        settings(max_connections=0).check()


def test_a_quota_of_zero_is_refused() -> None:
    with pytest.raises(SettingsError, match="--quota"):
        settings(quota=0).check()


def test_limits_of_code_contexts_are_checked() -> None:
    settings(max_contexts=1, code_pool=["size=1", "bash:size=0"]).check()
    with pytest.raises(SettingsError, match="--max-contexts"):
        settings(max_contexts=0).check()
    with pytest.raises(SettingsError, match="--code-pool 'many': expected"):
        settings(code_pool=["many"]).check()


def test_an_unknown_log_format_is_refused() -> None:
    with pytest.raises(SettingsError, match="--log-format xml: choose one of text, json"):
        settings(log_format="xml").check()
    settings(log_format="json").check()


@pytest.mark.parametrize("name", ["calls_per_second", "wrong_tokens", "backups_size", "overlays_size"])
def test_a_limit_is_at_least_one(name: str) -> None:
    settings(**{name: 1}).check()
    with pytest.raises(SettingsError, match=name.replace("_", "-")):
        settings(**{name: 0}).check()


def test_limits_of_users_links_and_addresses_are_checked() -> None:
    quotas = settings(limit=["link:bytes=2M", "link:calls=3"], calls_per_second=7).quotas()
    assert [quotas.number(*one) for one in (("link", "bytes"), ("link", "calls"), ("user", "calls"))] == [2 << 20, 3, 7]
    with pytest.raises(SettingsError, match="--limit 'user:files=1': expected WHO:WHAT=NUMBER"):
        settings(limit=["user:files=1"]).check()


def test_a_user_header_needs_proxies_that_are_trusted_and_roles() -> None:
    given: dict[str, Any] = {"proxy_user_header": "X-User", "proxies": ["10.0.0.1"], "proxy_roles": ["*=viewer"]}
    settings(**given).check()
    provider = OidcSettings(issuer="https://id.example", client_id="me", roles=["*=viewer"])
    wrong: list[dict[str, Any]] = [{"proxies": []}, {"proxy_roles": []}, {"proxy_user_header": "X User"}]
    for change in (*wrong, {"proxy_user_header": None}, {"oidc": provider}):
        with pytest.raises(SettingsError, match="--proxy-user-header"):
            settings(**given | change).check()


def test_ports_of_tunnels_are_checked() -> None:
    with pytest.raises(SettingsError, match="--tunnel-ports 20000: expected"):
        settings(tunnel_ports="20000").check()
    with pytest.raises(SettingsError, match="--tunnel-tls-port"):
        settings(tunnel_tls_port="1-2").check()
    found = settings(tunnel_ports="20000-20009", tunnel_tls_port="0.0.0.0:8443", tunnel_host="gw.example").tunnels()
    assert (len(found.ports), found.address, found.tls_address) == (10, "127.0.0.1", "0.0.0.0")
