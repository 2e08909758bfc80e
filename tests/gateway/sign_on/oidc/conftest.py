from collections.abc import Iterator

import pytest

from hawse_gateway.sign_on.settings import OidcSettings
from tests.support.oidc_provider import AUDIENCE, CLIENT, SECRET, RunningProvider, provider_process


@pytest.fixture(scope="module")
def provider() -> Iterator[RunningProvider]:
    """A provider in a separate process."""
    with provider_process() as running:
        yield running


@pytest.fixture
def settings(provider: RunningProvider) -> OidcSettings:
    return OidcSettings(
        issuer=provider.issuer,
        client_id=CLIENT,
        client_secret=SECRET,
        audience=AUDIENCE,
        roles=["admins=owner", "staff=own:operator"],
    )
