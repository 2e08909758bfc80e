"""The settings for user sign-in."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final

from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError
from hawse_gateway.transport.settings import ProxySettings

_HEADER: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, kw_only=True)
class OidcSettings:
    """Settings for sign-in with an OpenID provider. Without an issuer, this sign-in is disabled."""

    issuer: Annotated[
        str | None, Option("--oidc-issuer", "the OpenID provider for user sign-in (none)", metavar="URL")
    ] = None
    client_id: Annotated[
        str | None,
        Option(
            "--oidc-client-id",
            "the gateway's client id at the provider, which enables sign-in with a browser",
            metavar="ID",
        ),
    ] = None
    client_secret: Annotated[
        str | None,
        Option(
            "--oidc-client-secret",
            "the gateway's client secret at the provider; none for a public client",
            metavar="SECRET",
            environment="HAWSE_OIDC_CLIENT_SECRET",
        ),
    ] = field(default=None, repr=False)
    audience: Annotated[
        str | None,
        Option("--oidc-audience", "accept the provider's JSON Web Tokens for this audience (none)", metavar="TEXT"),
    ] = None
    roles: Annotated[
        Sequence[str],
        Option(
            "--oidc-role",
            "the role of users with VALUE in their groups, or of all users with *; VALUE=own:ROLE applies to their own "
            "sandboxes; can be repeated",
            metavar="VALUE=ROLE",
        ),
    ] = ()
    role_claim: Annotated[
        str, Option("--oidc-role-claim", "the claim to compare with --oidc-role (groups)", metavar="CLAIM")
    ] = "groups"
    user_claim: Annotated[str, Option("--oidc-user-claim", "the claim with the user's id (sub)", metavar="CLAIM")] = (
        "sub"
    )
    lifetime: Annotated[
        float, Option("--oidc-lifetime", "time before a user has to sign in again (43200)", metavar="SECONDS")
    ] = 12 * 3600.0
    ca: Annotated[
        Path | None,
        Option(
            "--oidc-ca",
            "the file with trusted certificates for the provider (the system's certificates)",
            metavar="FILE",
        ),
    ] = None

    def check(self) -> None:
        """Raise `SettingsError` for values that are not allowed."""
        if self.issuer is None:
            if self != OidcSettings():
                raise SettingsError("options that start with --oidc- need --oidc-issuer")
            return
        if self.audience is None and self.client_id is None:
            raise SettingsError(
                "--oidc-issuer needs --oidc-client-id for browsers, --oidc-audience for programs, or both"
            )
        if not self.roles:
            raise SettingsError("--oidc-issuer needs --oidc-role: without one, no user may do anything")
        if self.lifetime <= 0:
            raise SettingsError(f"--oidc-lifetime must be above 0, not {self.lifetime:g}")


@dataclass(frozen=True, kw_only=True)
class SignOnSettings(FeatureSettings):
    """The OpenID provider's settings."""

    oidc: OidcSettings = field(default_factory=OidcSettings)

    def check(self) -> None:
        super().check()
        self.oidc.check()


@dataclass(frozen=True, kw_only=True)
class ProxyUserSettings(ProxySettings, SignOnSettings):
    """Settings for sign-in through trusted proxies that authenticate users."""

    proxy_user_header: Annotated[
        str | None,
        Option(
            "--proxy-user-header",
            "the header with the user authenticated by the proxies (none)",
            metavar="NAME",
        ),
    ] = None
    proxy_groups_header: Annotated[
        str | None, Option("--proxy-groups-header", "the header with the user's groups (none)", metavar="NAME")
    ] = None
    proxy_roles: Annotated[
        Sequence[str],
        Option(
            "--proxy-role",
            "the role of users in GROUP, as for --oidc-role; can be repeated",
            metavar="GROUP=ROLE",
        ),
    ] = ()

    def check(self) -> None:
        super().check()
        if self.proxy_user_header is None:
            if self.proxy_groups_header is not None or self.proxy_roles:
                raise SettingsError("--proxy-groups-header and --proxy-role need --proxy-user-header")
            return
        if not self.proxies or not self.proxy_roles:
            raise SettingsError("--proxy-user-header needs --trust-proxy, the proxies that set it, and --proxy-role")
        if self.oidc.issuer is not None:
            raise SettingsError("--proxy-user-header and --oidc-issuer exclude each other")
        for which, name in (("user", self.proxy_user_header), ("groups", self.proxy_groups_header)):
            if name is not None and not _HEADER.fullmatch(name):
                raise SettingsError(f"--proxy-{which}-header {name}: expected a name such as X-Forwarded-User")
