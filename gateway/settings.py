"""What a gateway is started with, and the combinations that are refused."""

import ipaddress
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gateway.auth.access_policy import split_origin
from gateway.providers.local import RequestedIsolation
from hawse.logs import FORMS, Form
from hawse.wire import Limits

DEFAULT_STATE = "~/.local/state/hawse"
MAX_CONNECTIONS = 1024  # clients at once
TOKEN_MIN = 16  # characters of a token that others than this machine may try to guess


_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]{0,187}[A-Za-z0-9])?")  # a label of 63 characters stands before it


class SettingsError(Exception):
    """They can't be used; the message is for whoever typed them."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """`token` None: the state directory's own. `hosts`, `origins`: beside our own."""

    state: Path
    host: str = "127.0.0.1"
    port: int = 8080
    token: str | None = None
    provider: str = "local"
    isolation: RequestedIsolation = "auto"
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()
    preview_host: str | None = "localhost"  # below which previews have names of their own
    max_connections: int = MAX_CONNECTIONS
    quota: int | None = None  # bytes of a workspace, as its runtime counts them
    log_format: Form = "text"
    limits: Limits = field(default_factory=Limits)

    def check(self) -> None:
        """Raises `SettingsError`."""
        if self.token is None and not is_loopback(self.host):
            raise SettingsError(
                f"--host {self.host} lets others in: choose the token they have to know, with --token or HAWSE_TOKEN"
            )
        if self.token is not None and not is_loopback(self.host) and len(self.token) < TOKEN_MIN:
            raise SettingsError(f"a token that others may try to guess has {TOKEN_MIN} characters or more")
        if self.token is not None and (not self.token or not self.token.isascii() or not self.token.isprintable()):
            raise SettingsError("a token is printable ASCII")
        if self.log_format not in FORMS:
            raise SettingsError(f"logs are {' or '.join(FORMS)}, not {self.log_format}")
        if self.quota is not None and self.quota < 1:
            raise SettingsError("--quota is 1 byte or more")
        if self.max_connections < 1:
            raise SettingsError("--max-connections is 1 or more")
        if self.preview_host is not None and not _NAME.fullmatch(self.preview_host):
            raise SettingsError(f"--preview-host {self.preview_host}: it looks like previews.example.org")
        for origin in self.origins:
            try:
                split_origin(origin)
            except ValueError as error:
                raise SettingsError(f"--allow-origin: {error}; it looks like https://example.org") from error


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches `host`."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
