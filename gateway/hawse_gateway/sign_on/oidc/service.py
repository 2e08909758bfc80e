"""Sign-in with an OpenID provider: checks the settings and provides the routes and the task that fetches the keys."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

from starlette.routing import Route

from hawse_gateway.auth.access_policy import AccessPolicy
from hawse_gateway.auth.credentials import Credentials
from hawse_gateway.core.settings import SettingsError
from hawse_gateway.http.return_path import LoginAudit
from hawse_gateway.sign_on.oidc.bearers import BearerTokens
from hawse_gateway.sign_on.oidc.login import LoginEndpoints, OidcClient
from hawse_gateway.sign_on.oidc.provider import OidcProvider, allowed_url
from hawse_gateway.sign_on.oidc.tokens import Verifier
from hawse_gateway.sign_on.oidc.users import RoleRule, Users
from hawse_gateway.sign_on.settings import OidcSettings


class SingleSignOn:
    """A gateway's sign-in with its OpenID provider.

    Attributes:
        provider: Fetches metadata and keys.
    """

    def __init__(self, settings: OidcSettings, credentials: Credentials) -> None:
        """Create an instance without contacting the provider.

        Args:
            settings: The settings for the provider and for the users who can sign in.
            credentials: The table where logins are stored. If an audience is configured, the table also accepts the
                provider's bearer tokens.

        Raises:
            SettingsError: The settings are invalid.
        """
        if settings.issuer is None or not allowed_url(settings.issuer):
            raise SettingsError(f"--oidc-issuer {settings.issuer}: expected an https URL")
        try:
            rules = [RoleRule.parse(text) for text in settings.roles]
        except ValueError as error:
            raise SettingsError(f"--oidc-role {error}") from error
        try:
            tls = None if settings.ca is None else ssl.create_default_context(cafile=str(settings.ca.expanduser()))
        except OSError as error:
            raise SettingsError(f"--oidc-ca {settings.ca}: {error.strerror or error}") from error
        self._settings = settings
        self._credentials = credentials
        self.provider = OidcProvider(settings.issuer, tls=tls)
        self._verifier = Verifier(self.provider)
        self._users = Users(rules, user_claim=settings.user_claim, role_claim=settings.role_claim)
        if settings.audience is not None:
            credentials.external = BearerTokens(self.provider, self._verifier, self._users, settings.audience)

    @property
    def name(self) -> str | None:
        """The provider's display name, or None if browsers can't sign in with this provider."""
        return None if self._settings.client_id is None else urlsplit(self.provider.issuer).netloc

    def routes(self, access_policy: AccessPolicy, audit: LoginAudit) -> list[Route]:
        """Return the routes for logging in.

        Args:
            access_policy: Limits failed logins per address.
            audit: Notified of logins.
        """
        if self._settings.client_id is None:
            return []
        client = OidcClient(self._settings.client_id, self._settings.client_secret, self._settings.lifetime)
        return LoginEndpoints(
            self.provider,
            self._verifier,
            self._users,
            client,
            access_policy=access_policy,
            credentials=self._credentials,
            audit=audit,
        ).routes()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep the provider's keys up to date inside the `async with` block."""
        async with asyncio.TaskGroup() as tasks:
            reading = tasks.create_task(self.provider.run(), name="keys of the OpenID provider")
            yield
            reading.cancel()
