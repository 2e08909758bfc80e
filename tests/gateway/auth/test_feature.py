from pathlib import Path

from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.auth.feature import ACCESS, CREDENTIALS
from hawse_gateway.auth.methods import AccessMethods
from hawse_gateway.auth.principals import OWNER
from hawse_gateway.providers.state_directory import StateDirectory
from tests.support.composed import OWNER_TOKEN, composed, contributed


def owner_of(state: Path, token: str | None, presented: str) -> bool:
    identity = composed(CREDENTIALS, state, token=token).part(Credentials).find(presented)
    return identity is not None and identity.principal == OWNER


def test_the_owner_has_the_token_of_the_settings_or_else_of_the_state_directory(tmp_path: Path) -> None:
    stored = StateDirectory(tmp_path).token()
    assert owner_of(tmp_path, OWNER_TOKEN, OWNER_TOKEN)
    assert not owner_of(tmp_path, OWNER_TOKEN, stored)
    assert owner_of(tmp_path, None, stored)


def test_credentials_are_managed_by_methods(tmp_path: Path) -> None:
    assert AccessMethods in contributed(composed(ACCESS, tmp_path))
