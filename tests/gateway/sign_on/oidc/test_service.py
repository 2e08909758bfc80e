from dataclasses import replace
from pathlib import Path

import pytest

from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.sign_on.oidc.service import SingleSignOn
from hawse_gateway.sign_on.settings import OidcSettings
from tests.support.certificates import Authority
from tests.support.stores import MemoryStore

GOOD = OidcSettings(issuer="https://id.example:8443/realm", client_id="me", roles=["*=viewer"])


def created(settings: OidcSettings) -> tuple[SingleSignOn, Credentials]:
    credentials = Credentials("the token of the owner", MemoryStore())
    return SingleSignOn(settings, credentials), credentials


def test_the_provider_signs_in_browsers_with_a_client_id_and_programs_with_an_audience(tmp_path: Path) -> None:
    browsers, credentials = created(GOOD)
    assert browsers.name == "id.example:8443"
    assert credentials.external is None
    programs, credentials = created(replace(GOOD, client_id=None, audience="api", ca=Authority(tmp_path).path))
    assert programs.name is None
    assert credentials.external is not None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (replace(GOOD, issuer="http://id.example"), "--oidc-issuer http://id.example: expected an https URL"),
        (replace(GOOD, roles=["admins"]), "--oidc-role 'admins': expected VALUE=ROLE"),
        (replace(GOOD, ca=Path("/nonexistent")), "--oidc-ca /nonexistent: No such file"),
    ],
)
def test_settings_that_cannot_be_used_are_named(settings: OidcSettings, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        created(settings)
