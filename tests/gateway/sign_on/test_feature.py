from pathlib import Path

import pytest

from hawse_gateway.core.settings import SettingsError
from hawse_gateway.sign_on.feature import SIGN_ON, SignOn
from hawse_gateway.sign_on.oidc.service import SingleSignOn
from hawse_gateway.sign_on.proxy import ProxySignOn
from hawse_gateway.sign_on.settings import OidcSettings
from tests.support.composed import composed, paths

OIDC = OidcSettings(issuer="https://id.example", client_id="me", roles=["*=viewer"])


def test_users_sign_in_with_the_openid_provider_or_through_the_proxy(tmp_path: Path) -> None:
    assert isinstance(composed(SIGN_ON, tmp_path, oidc=OIDC).part(SignOn), SingleSignOn)
    by_proxy = composed(SIGN_ON, tmp_path, proxy_user_header="X-User", proxy_roles=["*=viewer"])
    assert isinstance(by_proxy.part(SignOn), ProxySignOn)
    assert paths(by_proxy)[-1] == "/v1/login"


def test_without_either_there_is_no_login(tmp_path: Path) -> None:
    composition = composed(SIGN_ON, tmp_path)
    assert composition.find(SignOn) is None
    assert "/v1/login" not in paths(composition)


def test_a_role_that_is_not_valid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="--proxy-role"):
        composed(SIGN_ON, tmp_path, proxy_user_header="X-User", proxy_roles=["viewer"])
