from typing import Any

import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.sign_on.settings import OidcSettings, ProxyUserSettings


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
        ProxyUserSettings(oidc=OidcSettings(**oidc)).check()


def test_a_user_header_needs_proxies_that_are_trusted_and_roles() -> None:
    given: dict[str, Any] = {"proxy_user_header": "X-User", "proxies": ["10.0.0.1"], "proxy_roles": ["*=viewer"]}
    ProxyUserSettings(**given).check()
    provider = OidcSettings(issuer="https://id.example", client_id="me", roles=["*=viewer"])
    wrong: list[dict[str, Any]] = [{"proxies": []}, {"proxy_roles": []}, {"proxy_user_header": "X User"}]
    for change in (*wrong, {"proxy_user_header": None}, {"oidc": provider}):
        with pytest.raises(SettingsError, match="--proxy-user-header"):
            ProxyUserSettings(**given | change).check()
