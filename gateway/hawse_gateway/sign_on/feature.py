"""The sign-in feature: users sign in with an OpenID provider or through a reverse proxy that authenticates them."""

from contextlib import AbstractAsyncContextManager
from importlib import import_module
from typing import Protocol

from starlette.routing import Route

from hawse_gateway.audit.trail import AuditTrail
from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.core.feature import Composition, Feature
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.sign_on.proxy import ProxySignOn
from hawse_gateway.sign_on.settings import ProxyUserSettings


class SignOn(Protocol):
    """An identity provider: an OpenID provider or a proxy."""

    @property
    def name(self) -> str | None:
        """The display name, or None if browsers cannot sign in with this provider."""

    def routes(self, access_policy: AccessPolicy, audit: AuditTrail) -> list[Route]:
        """Return the routes for logging in."""

    def running(self) -> AbstractAsyncContextManager[None]:
        """Keep the provider's signing keys up to date inside the `async with` block."""


def _build(gateway: Composition) -> None:
    settings, credentials = gateway.part(ProxyUserSettings), gateway.part(Credentials)
    sign_on: SignOn
    if settings.proxy_user_header is not None:
        sign_on = ProxySignOn(settings.proxy_roles, credentials)
    elif settings.oidc.issuer is not None:
        try:
            service = import_module("hawse_gateway.sign_on.oidc.service")  # imported on demand: needs optional packages
        except ModuleNotFoundError as error:
            raise SettingsError(f"--oidc-issuer needs {error.name}: pip install 'hawse[oidc]'") from error
        sign_on = service.SingleSignOn(settings.oidc, credentials)
    else:
        return
    gateway.add(sign_on, SignOn)
    gateway.routes += sign_on.routes(gateway.part(AccessPolicy), gateway.part(AuditTrail))
    gateway.running.append(sign_on.running())


SIGN_ON = Feature("sign-on", _build)
