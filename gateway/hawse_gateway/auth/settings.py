"""Settings for the gateway's names and allowed origins."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from hawse_gateway.auth.hosts import split_host, split_origin
from hawse_gateway.core.settings import FeatureSettings, Option, SettingsError


@dataclass(frozen=True, kw_only=True)
class AccessSettings(FeatureSettings):
    """The gateway's host names, and the origins whose pages may call it."""

    hosts: Annotated[
        Sequence[str],
        Option("--allow-host", "an additional host name of the gateway; can be repeated", metavar="NAME"),
    ] = ()
    origins: Annotated[
        Sequence[str],
        Option("--allow-origin", "an additional origin whose pages may connect; can be repeated", metavar="ORIGIN"),
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
