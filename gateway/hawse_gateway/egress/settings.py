"""The operator's settings for filtered networks, from the TOML file given with `hawse serve --egress FILE`."""

import ipaddress
import os
import re
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from hawse.api.egress import EgressPolicy
from hawse.api.types import Id
from hawse.wire import HawseError
from hawse_gateway.egress.addresses import normalized
from hawse_gateway.egress.rules import Rule, Rules
from hawse_gateway.egress.secrets import Secret

SECRET_MAX: Final = 16 << 10  # maximum length of a secret's value, in bytes
EVERYBODY: Final = "*"
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}")  # a token (RFC 9110)
_FIXED: Final = frozenset(("host", "content-length", "transfer-encoding", "connection", "upgrade", "accept-encoding"))


class EgressSettingsError(Exception):
    """The settings file is invalid. The message states what to change."""


class SecretSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A `[secrets.NAME]` table, which must contain one of `header`, `basic` and `query`, and one of `env` and `file`.

    Attributes:
        hosts: Rules, as in `EgressPolicy.allow`, that select the requests to add the secret to. Requests must use TLS.
        header: The name of the header to put the secret in.
        basic: The user name for HTTP basic authentication with the secret as password.
        query: The name of the query parameter to put the secret in.
        prefix: Text that precedes the value in the header, such as `Bearer `.
        env: The gateway's environment variable that contains the value.
        file: A file that contains the value. It is read whenever a sandbox starts.
        users: The ids of users whose sandboxes can use the secret, or `*` for all users. Templates can use any secret.
    """

    hosts: Annotated[list[str], Meta(min_length=1, max_length=64)]
    header: str | None = None
    basic: str | None = None
    query: str | None = None
    prefix: str = ""
    env: str | None = None
    file: str | None = None
    users: list[str] = []


class EgressSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The settings file.

    Attributes:
        networks: Non-public networks that sandboxes may reach if their rules allow it.
        addresses: Fixed addresses, keyed by name. These names are not looked up.
        ca: A file with additional certificates to trust for servers.
        secrets: The secrets, keyed by name.
    """

    networks: list[str] = []
    addresses: dict[str, str] = {}
    ca: str | None = None
    secrets: dict[Id, SecretSettings] = {}

    def secret_values(self, names: list[str]) -> list[Secret]:
        """Return secrets along with their values. Raises `HawseError` (`unavailable`) if a value is unreadable."""
        return [self._secret(name) for name in names]

    def trusted(self) -> str:
        """Return the certificates in `ca`. Raises `HawseError` (`unavailable`)."""
        if self.ca is None:
            return ""
        try:
            return Path(self.ca).read_text("ascii")
        except (OSError, ValueError) as error:
            raise HawseError("unavailable", f"the trusted certificates are unreadable: {error}") from error

    def _secret(self, name: str) -> Secret:
        settings = self.secrets.get(name)
        if settings is None:
            raise HawseError("unavailable", f"this gateway no longer has a secret {name!r}")
        value = _value(name, settings)
        into: Literal["header", "basic", "query"] = "query"
        of = settings.query
        if settings.header is not None:
            into, of = "header", settings.header
        elif settings.basic is not None:
            into, of = "basic", settings.basic
        assert of is not None
        return Secret(hosts=settings.hosts, into=into, name=of, value=value, prefix=settings.prefix)


def read_egress_settings(path: Path) -> EgressSettings:
    """Read the settings file, and check that every secret is readable. Raises `EgressSettingsError`."""
    try:
        settings = msgspec.toml.decode(path.read_bytes(), type=EgressSettings)
        for text in settings.networks:
            ipaddress.ip_network(text)
        for name, text in settings.addresses.items():
            if normalized(name) != name:
                raise ValueError(f"addresses: write {name!r} as {normalized(name)!r}")
            ipaddress.ip_address(text)
        for name, secret in settings.secrets.items():
            _check(name, secret)
        settings.secret_values(list(settings.secrets))
        settings.trusted()
    except OSError as error:
        raise EgressSettingsError(f"--egress {path}: {error.strerror}") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise EgressSettingsError(f"--egress {path}: {error}") from error
    except HawseError as error:
        raise EgressSettingsError(f"--egress {path}: {error.message}") from error
    return settings


def is_listed(secret: SecretSettings, user: str) -> bool:
    """Return whether a user may use a secret."""
    return user in secret.users or EVERYBODY in secret.users


def check_policy(policy: EgressPolicy, settings: EgressSettings, granted: frozenset[str], user: str | None) -> None:
    """Raise an error if a policy is invalid or contains secrets that the user isn't allowed to use.

    Args:
        policy: The policy.
        settings: The settings.
        granted: Names of secrets that any user may use in this call, because a template contains them.
        user: The user's id. None if the user has all rights and may therefore use all secrets.

    Raises:
        HawseError: `invalid_params`, with the path of the invalid parameter.
    """
    try:
        Rules(policy)
    except ValueError as error:
        raise _invalid("egress", str(error)) from error
    for name in policy.secrets:
        secret = settings.secrets.get(name)
        listed = secret is not None and (user is None or is_listed(secret, user))
        if secret is None or not (listed or name in granted):
            raise _invalid("egress.secrets", f"this gateway has no secret {name!r} that you can use")


def _invalid(path: str, text: str) -> HawseError:
    return HawseError("invalid_params", text, details={"path": f"$.{path}"})


def _check(name: str, secret: SecretSettings) -> None:
    """Raise `ValueError` for an invalid secret."""
    where = f"secrets.{name}"
    if sum(value is not None for value in (secret.header, secret.basic, secret.query)) != 1:
        raise ValueError(f"{where} needs exactly one of header, basic and query")
    if (secret.env is None) == (secret.file is None):
        raise ValueError(f"{where} needs either env or file")
    for text in secret.hosts:
        Rule.parse(text)
    if secret.header is not None and (not _HEADER.fullmatch(secret.header) or secret.header.lower() in _FIXED):
        raise ValueError(f"{where}: {secret.header!r} is not a header that can carry a secret")
    if secret.basic is not None and (":" in secret.basic or not secret.basic.isprintable()):
        raise ValueError(f"{where}: the user of basic authentication must be printable, without a colon")
    if secret.query == "":
        raise ValueError(f"{where}: the name of a parameter must not be empty")


def _value(name: str, settings: SecretSettings) -> str:
    if settings.env is not None:
        value = os.environ.get(settings.env, "")
        source = f"the variable {settings.env}"
    else:
        assert settings.file is not None
        source = f"the file {settings.file}"
        try:
            with open(settings.file, "rb") as file:
                value = file.read(SECRET_MAX + 1).decode("utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise HawseError("unavailable", f"secret {name!r}: {source} is unreadable: {error}") from error
    text = settings.prefix + value
    if not value or len(text) > SECRET_MAX or not (text.isascii() and text.isprintable()):
        allowed = f"1 to {SECRET_MAX} printable ASCII characters"
        raise HawseError("unavailable", f"secret {name!r}: {source} must have {allowed}")
    return value
