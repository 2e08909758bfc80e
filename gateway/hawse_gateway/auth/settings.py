"""The settings of the names and origins of the gateway."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.auth.hosts import split_host, split_origin
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError


@dataclass(frozen=True, kw_only=True)
class AccessSettings(FeatureSettings):
    """The names that the gateway is reached by, and the origins whose pages can call it."""

    hosts: Annotated[
        Sequence[str],
        Option("--allow-host", "another name that the gateway is reached by; may be repeated", metavar="NAME"),
    ] = ()
    origins: Annotated[
        Sequence[str],
        Option("--allow-origin", "another origin whose pages may connect; may be repeated", metavar="ORIGIN"),
    ] = ()

    def check(self) -> None:
        super().check()
        for host in self.hosts:
            try:
                split_host(host, "http")
            except ValueError as error:
                raise SettingsError(f"--allow-host: {error}; expected a name such as example.org") from error
        for origin in self.origins:
            try:
                split_origin(origin)
            except ValueError as error:
                raise SettingsError(
                    f"--allow-origin: {error}; expected an origin such as https://example.org"
                ) from error
